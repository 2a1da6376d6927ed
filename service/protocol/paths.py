"""The paths of endpoints that more than the endpoint itself names."""

from __future__ import annotations

from urllib.parse import quote

PROTECTED_RESOURCE = "/.well-known/oauth-protected-resource/"

AUTHORIZE = "/connect/authorize"
TOKEN = "/connect/token"
INTROSPECTION = "/connect/introspect"
REVOCATION = "/connect/revocation"
GLOBAL_REVOCATION = "/connect/global-token-revocation"
DEVICE_AUTHORIZATION = "/connect/deviceauthorization"
BACKCHANNEL_AUTHENTICATION = "/connect/ciba"
PUSHED_REQUEST = "/connect/par"
USERINFO = "/connect/userinfo"
REGISTER = "/connect/register"
END_SESSION = "/connect/endsession"
JWKS = "/.well-known/jwks.json"
CALLBACK = "/account/provider/callback"
IDPS = "/connect/idp/"
"""The paths of one identity provider begin with this, and go on with its name."""
OWN_NAME = "{name}"
OWN_CALLBACK = f"{IDPS}{OWN_NAME}/callback"
"""The redirect URIs at identity providers: one that they share, and those of single ones."""

LOGIN = "/account/login"
IDENTITY_PROVIDER = "/account/provider"
SECOND_FACTOR = "/account/second-factor"
ACCOUNT = "/account"
"""The page after a sign-in that no client asked for."""
REQUESTS = "/account/requests"
"""The page at which the user answers requests that came without a browser."""
SECURITY = "/account/security"
"""The page at which the user manages second factors."""
ADD_FACTOR = f"{SECURITY}/add"
"""The page at which the user adds one, there or while signing in."""


def token_endpoint_of(issuer: str) -> str:
    """Return the URL of the token endpoint, to which a JWT may be addressed as to the issuer (RFC 7523 §3)."""
    return issuer.rstrip("/") + TOKEN


def resource_metadata_url(issuer: str, name: str) -> str:
    """Return the URL of the metadata of an API resource."""
    return issuer.rstrip("/") + PROTECTED_RESOURCE + quote(name, safe="")
