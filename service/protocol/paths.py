"""The paths of endpoints that more than the endpoint itself names."""

from __future__ import annotations

AUTHORIZE = "/connect/authorize"
TOKEN = "/connect/token"
INTROSPECTION = "/connect/introspect"
REVOCATION = "/connect/revocation"
