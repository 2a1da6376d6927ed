"""What binds tokens to a key of the client: proofs and certificates in, a confirmation out."""
