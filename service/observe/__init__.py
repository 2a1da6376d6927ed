"""Listens to events, and writes them down: audit log, metrics, traces, logs."""
