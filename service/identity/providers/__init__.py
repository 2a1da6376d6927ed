"""Users who come from OpenID providers that the registry names."""
