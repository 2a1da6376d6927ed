"""Requests and answers: parameters, credentials, errors, CORS, headers, and the protocol of endpoints."""
