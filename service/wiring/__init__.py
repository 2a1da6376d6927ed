"""Builds the parts of the service, of which `app.py` makes the endpoints."""
