"""The engine behind `service.store.keyvalue`: one server, Sentinel, a Cluster, or the embedded store."""
