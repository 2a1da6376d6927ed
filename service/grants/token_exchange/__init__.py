"""Token exchange: one file for what it reads, what allows it, and each kind of token that comes of it (RFC 8693)."""
