"""GET /.well-known/openid-configuration and jwks.json: the metadata, derived from the endpoints, and the keys (RFC 8414, RFC 7517)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import orjson

from service.clients.keys import ClientAlgorithms
from service.http.answer import Answer, document_fields
from service.http.endpoint import ANY_ORIGIN, Described, Direct, Endpoint, Route
from service.http.message import Message
from service.keys.keyring import KeyRing
from service.model.catalogue import Registrable
from service.model.registry import LiveRegistry, Registry
from service.protocol.scope import OFFLINE_ACCESS

OPENID_CONFIGURATION = "/.well-known/openid-configuration"
OAUTH_METADATA = "/.well-known/oauth-authorization-server"
JWKS = "/.well-known/jwks.json"
MAX_AGE = 300
"""Seconds; much shorter than the time from a key's announcement to its first signature."""

_FIELDS = document_fields(max_age=MAX_AGE)


@dataclass(slots=True, kw_only=True)
class DiscoveryEndpoint:
    """Keeps the document as bytes until the registry or the keys change."""

    issuer: str
    endpoints: tuple[Endpoint, ...]
    keys: KeyRing
    algorithms: ClientAlgorithms
    registry: LiveRegistry
    locales: tuple[str, ...]
    subject_types: tuple[str, ...]
    registrable: Registrable
    _document: tuple[object, bytes] = (None, b"")

    def routes(self) -> Iterable[Route]:
        names = (OPENID_CONFIGURATION, OAUTH_METADATA, OAUTH_METADATA + urlsplit(self.issuer).path)
        return [
            Direct("GET", path, self.configuration, head=True, scripts=ANY_ORIGIN)
            for path in dict.fromkeys(name.rstrip("/") for name in names)
        ]

    def metadata(self) -> Mapping[str, object]:
        """Return the metadata that belong to no single endpoint."""
        return {
            "issuer": self.issuer,
            "scopes_supported": _scopes(self.registry.current, self.registrable),
            "claims_supported": _claims(self.registry.current),
            "claim_types_supported": ["normal"],
            "subject_types_supported": list(self.subject_types),
            "acr_values_supported": [
                context.acr for context in self.registry.current.authentication_contexts
            ],
            **self.algorithms.metadata("id_token"),
            "ui_locales_supported": list(self.locales),
            "claims_parameter_supported": True,
        }

    async def configuration(self, _: Message) -> Answer:
        state = self.registry.current.generation, self.keys.encryption_algorithms
        if self._document[0] != state:
            self._document = (state, orjson.dumps(self._build()))
        return Answer(_FIELDS, self._document[1])

    def _build(self) -> Mapping[str, object]:
        document = dict(self.metadata())
        for endpoint in self.endpoints:
            if isinstance(endpoint, Described):
                document |= endpoint.metadata()
        base = self.issuer.rstrip("/")  # never the Host header
        return {
            name: base + value if isinstance(value, str) and value.startswith("/") else value
            for name, value in document.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JwksEndpoint:
    keys: KeyRing

    def routes(self) -> Iterable[Route]:
        return (Direct("GET", JWKS, self.jwks, head=True, scripts=ANY_ORIGIN),)

    def metadata(self) -> Mapping[str, object]:
        return {"jwks_uri": JWKS}

    async def jwks(self, _: Message) -> Answer:
        return Answer(_FIELDS, self.keys.public_jwks())


def _scopes(registry: Registry, registrable: Registrable) -> list[str]:
    shown = [
        scope.name
        for scope in (*registry.identity_resources.values(), *registry.api_scopes.values())
        if scope.show_in_discovery
    ]
    offline = any(client.allow_offline_access for client in registry.clients.values())
    offline |= OFFLINE_ACCESS in registrable.scopes
    return [*shown, OFFLINE_ACCESS] if offline else shown


def _claims(registry: Registry) -> list[str]:
    claims = {
        claim
        for resource in registry.identity_resources.values()
        if resource.show_in_discovery
        for claim in resource.user_claims
    }
    return sorted(claims | {"sub", "iss", "auth_time", "acr", "amr", "sid"})
