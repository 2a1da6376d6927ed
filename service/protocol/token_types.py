"""The token types of token exchange, as URIs and by the short names that config.yaml has for them (RFC 8693 §3), and the words of ID-JAGs (draft-ietf-oauth-identity-assertion-authz-grant-04)."""

from __future__ import annotations

from typing import Literal

ID_JAG_TYP = "oauth-id-jag+jwt"
"""The `typ` header (§3.1)."""
ID_JAG_PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag"
"""The value in `authorization_grant_profiles_supported` (§7)."""

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
"""The grant type of RFC 7523 §2.1."""
PREFIX = "urn:ietf:params:oauth:token-type:"
CLIENT_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
"""The `client_assertion_type` of a JWT (RFC 7523 §2.2)."""
TRANSACTION_TOKEN_TYP = "txntoken+jwt"
"""The `typ` of a transaction token (draft-ietf-oauth-transaction-tokens)."""
NOT_APPLICABLE = "N_A"
"""The `token_type` of what is no access token (RFC 8693 §2.2.1)."""

SubjectTokenType = Literal[
    "access_token", "refresh_token", "id_token", "jwt", "self_signed", "unsigned_json", "txn_token"
]
RequestedTokenType = Literal[
    "access_token", "jwt", "refresh_token", "id_token", "txn_token", "id_jag"
]

_SPELT_OTHERWISE = {"id_jag": "id-jag"}
_SHORT = {spelt: name for name, spelt in _SPELT_OTHERWISE.items()}


def uri_of(name: str) -> str:
    """Return the URI of a token type."""
    return PREFIX + _SPELT_OTHERWISE.get(name, name)


def short_name(uri: str) -> str | None:
    """Return the short name of a token type, None for a URI of another form."""
    name = uri.removeprefix(PREFIX)
    return None if name == uri else _SHORT.get(name, name)
