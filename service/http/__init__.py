"""Requests in, answers out: reading parameters, errors, CORS, headers, and what an endpoint is."""
