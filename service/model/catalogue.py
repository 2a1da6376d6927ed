"""The catalogue of what this server supports, derived from the lists of implementations by `service/start/load.py`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec


class Credential(Enum):
    """The metadata that a client has to register so that it can use an authentication method."""

    SECRET = "client_secrets"
    SECRET_VALUE = "a client secret with its value"
    KEYS = "jwks or jwks_uri"
    CERTIFICATE_SUBJECT = "a tls_client_auth_… subject"
    CERTIFICATE = "self_signed_certificates, or x5c in jwks or jwks_uri"
    RULE = "a rule of workload_issuers"
    NOTHING = "nothing"


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """Configuration, registration of clients and discovery all take the supported names from here."""

    grant_types: frozenset[str]
    """Those that are built in; extension grants are in the registry."""
    registrable_grant_types: frozenset[str]
    """Those that a client may register dynamically."""
    openly_registrable_grant_types: frozenset[str]
    """Those of them that need no initial access token."""
    client_auth_methods: Mapping[str, Credential]
    response_modes: tuple[str, ...]


class Registrable(msgspec.Struct, frozen=True, kw_only=True):
    """The names that discovery lists for dynamic registration (RFC 7591 §2) and metadata documents; empty where both are off."""

    grant_types: frozenset[str] = frozenset()
    response_types: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()

    def __or__(self, other: Registrable) -> Registrable:
        return Registrable(
            grant_types=self.grant_types | other.grant_types,
            response_types=self.response_types | other.response_types,
            scopes=self.scopes | other.scopes,
        )
