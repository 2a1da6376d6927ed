"""Who people are: users, sessions, consents and the identity providers they come from."""
