"""Dynamic client registration: from the metadata that a client sends to a client of the store (RFC 7591, RFC 7592)."""
