"""The ways an authorization response travels back to the client, one file per mode."""
