"""Binds tokens to a key of the client: reads proofs and certificates, gives a confirmation."""
