"""Says what a token is and why it is inactive, and why a request is refused, with what to change."""
