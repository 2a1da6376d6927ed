"""GET /.well-known/openid-configuration and jwks.json: the metadata, derived from the endpoints, and the keys (RFC 8414, RFC 7517)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

import msgspec
import orjson

from service.clients.keys import ClientAlgorithms
from service.model.catalogue import Registrable
from service.model.registry import Registry
from service.protocol.paths import JWKS
from service.protocol.scope import OFFLINE_ACCESS
from service.web.endpoint import (
    ANY_ORIGIN,
    Answer,
    Described,
    Direct,
    Endpoint,
    Message,
    Route,
    TakesCertificates,
    document_fields,
)

OPENID_CONFIGURATION = "/.well-known/openid-configuration"
OAUTH_METADATA = "/.well-known/oauth-authorization-server"
MAX_AGE = 300
"""Seconds; much shorter than the time from a key's announcement to its first signature."""

_FIELDS = document_fields(max_age=MAX_AGE)


class DiscoveryEndpoint(msgspec.Struct, kw_only=True):
    """Keeps the document as bytes until the registry or the keys change."""

    issuer: str
    endpoints: tuple[Endpoint, ...]
    algorithms: ClientAlgorithms
    locales: tuple[str, ...]
    subject_types: tuple[str, ...]
    registrable: Registrable
    documents: bool
    """Whether a client_id may be the URL of a metadata document."""
    certificates: bool
    """Whether certificates of clients can reach this service."""
    aliases_below: str | None
    """`server.mtls_base_url`."""
    _document: tuple[object, bytes] = (None, b"")

    def routes(self) -> Iterable[Route]:
        names = (OPENID_CONFIGURATION, OAUTH_METADATA, OAUTH_METADATA + urlsplit(self.issuer).path)
        handlers = {name.rstrip("/"): self.configuration for name in names} | {JWKS: self.jwks}
        for path, handler in handlers.items():
            yield Direct("GET", path, handler, scripts=ANY_ORIGIN)

    def metadata(self) -> Mapping[str, object]:
        """Return the metadata that belong to no other endpoint."""
        registry = self.algorithms.registry.current
        return {
            "issuer": self.issuer,
            "jwks_uri": JWKS,
            "scopes_supported": _scopes(registry, self.registrable),
            "claims_supported": _claims(registry),
            "claim_types_supported": ["normal"],
            "subject_types_supported": list(self.subject_types),
            "acr_values_supported": [each.acr for each in registry.authentication_contexts],
            **self.algorithms.metadata("id_token"),
            **_details_types(registry),
            "ui_locales_supported": list(self.locales),
            "claims_parameter_supported": True,
            **({"client_id_metadata_document_supported": True} if self.documents else {}),
            **({"tls_client_certificate_bound_access_tokens": True} if self.certificates else {}),
        }

    async def configuration(self, _: Message) -> Answer:
        state = (
            self.algorithms.registry.current.generation,
            self.algorithms.ring.encryption_algorithms,
        )
        if self._document[0] != state:
            self._document = (state, orjson.dumps(self._build()))
        return Answer(_FIELDS, self._document[1])

    def _build(self) -> Mapping[str, object]:
        """Return all metadata but those with no elements (RFC 8414 §3.2)."""
        document, aliased = dict(self.metadata()), list[str]()
        for endpoint in self.endpoints:
            if isinstance(endpoint, Described):
                metadata = endpoint.metadata()
                document |= metadata
                aliased += metadata if isinstance(endpoint, TakesCertificates) else ()
        document = {name: value for name, value in document.items() if value != []}
        complete = _place_below(self.issuer, document)  # never the Host header
        if self.aliases_below is None:
            return complete
        aliases = {name: document[name] for name in aliased if name.endswith("_endpoint")}
        return {**complete, "mtls_endpoint_aliases": _place_below(self.aliases_below, aliases)}

    async def jwks(self, _: Message) -> Answer:
        return Answer(_FIELDS, self.algorithms.ring.public_jwks)


def _place_below(base: str, document: Mapping[str, object]) -> Mapping[str, object]:
    """Return the metadata with all paths as URLs."""
    return {
        name: base.rstrip("/") + value
        if isinstance(value, str) and value.startswith("/")
        else value
        for name, value in document.items()
    }


def _scopes(registry: Registry, registrable: Registrable) -> list[str]:
    scopes = (*registry.identity_resources.values(), *registry.api_scopes.values())
    shown = [scope.name for scope in scopes if scope.show_in_discovery]
    offline = any(one.enabled and one.allow_offline_access for one in registry.clients.values())
    offline |= OFFLINE_ACCESS in registrable.scopes
    return [*shown, OFFLINE_ACCESS] if offline else shown


def _details_types(registry: Registry) -> Mapping[str, object]:
    """Return the types of authorization_details, if there are any (RFC 9396 §10)."""
    types = sorted(registry.authorization_details_types)
    return {"authorization_details_types_supported": types} if types else {}


def _claims(registry: Registry) -> list[str]:
    resources = registry.identity_resources.values()
    shown = [resource.user_claims for resource in resources if resource.show_in_discovery]
    return sorted({"sub", "iss", "auth_time", "acr", "amr", "sid"}.union(*shown))
