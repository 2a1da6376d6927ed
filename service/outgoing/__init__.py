"""The HTTP client of the service, and the guarded one for URLs that clients registered dynamically."""
