"""Who listens to events, and how what happens is written down: audit log, metrics, logs."""
