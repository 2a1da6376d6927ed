"""The HTTP client of the service, and the guarded one for URLs of dynamically registered clients."""
