"""Makes tokens, decides which ones are active, and revokes them."""
