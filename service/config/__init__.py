"""Reads and checks config.yaml, and reports every problem at once."""
