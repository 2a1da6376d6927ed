"""CIBA: a client asks for an authentication that the user confirms elsewhere (CIBA Core)."""
