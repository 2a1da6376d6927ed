"""Events for the audit log and the metrics, one file a topic; none holds a credential."""
