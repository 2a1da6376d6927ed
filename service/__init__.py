"""An OAuth 2.0 and OpenID Connect token service with extension grants and delegation."""
