"""Users, their sign-ins and sessions, what they allowed, and the identity providers they come from."""
