"""Takes over a realm of Keycloak 24 to 26."""
