"""What each grant type of the token endpoint turns into an authorization, one file per grant."""
