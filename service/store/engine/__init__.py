"""The connections to Redis: one server, Sentinel, a Cluster, or the embedded store; all behind `service.store.keyvalue`."""
