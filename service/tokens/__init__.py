"""How tokens are made, and when one is active."""
