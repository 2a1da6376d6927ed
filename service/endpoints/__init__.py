"""Endpoints, one file per URL."""
