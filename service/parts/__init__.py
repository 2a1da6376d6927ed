"""Builds the parts of the service; each file can be imported without the others, so that a command waits for no more than it needs."""
