"""Token exchange: one file for what it reads, what allows it, and each kind of token that it issues (RFC 8693)."""
