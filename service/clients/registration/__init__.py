"""Dynamic client registration (RFC 7591, RFC 7592): from the metadata that a client sends to a client of the store."""
