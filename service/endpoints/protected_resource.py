"""GET /.well-known/oauth-protected-resource/API: tells clients how to get tokens for an API (RFC 9728)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import unquote

import msgspec
import orjson

from service.keys.algorithms import SIGNING_ALGORITHMS
from service.model.local_text import LocalText
from service.model.registry import LiveRegistry, Registry
from service.model.resources import ApiResource
from service.protocol.errors import InvalidRequest
from service.protocol.paths import PROTECTED_RESOURCE
from service.web.endpoint import (
    ANY_ORIGIN,
    Answer,
    Direct,
    Message,
    Route,
    document_fields,
    json_answer,
    raw_path,
)

_FIELDS = document_fields(max_age=300)
_UNKNOWN = {
    "error": InvalidRequest.code,
    "error_description": "no API resource of this name has a URL",
}


class ProtectedResourceEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Describes each API resource that has a URL, from the registry in force."""

    issuer: str
    registry: LiveRegistry
    certificates: bool
    """Whether certificates of clients can reach this service."""

    def routes(self) -> Iterable[Route]:
        return (Direct("GET", PROTECTED_RESOURCE, self.describe, scripts=ANY_ORIGIN, below=True),)

    async def describe(self, request: Message) -> Answer:
        """Return the metadata; 404 for an API that is unknown or has no URL."""
        registry = self.registry.current
        api = registry.api_resources.get(
            unquote(raw_path(request).removeprefix(PROTECTED_RESOURCE))
        )
        if api is None or api.url is None:
            return json_answer(_UNKNOWN, status=404)
        bound = {"tls_client_certificate_bound_access_tokens": True} if self.certificates else {}
        metadata = {
            "resource": api.url,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
            "dpop_signing_alg_values_supported": list(SIGNING_ALGORITHMS),
            **_scopes(api, registry),
            **_names(api),
            **_details_types(api, registry),
            **bound,
        }
        return Answer(_FIELDS, orjson.dumps(metadata))


def _scopes(api: ApiResource, registry: Registry) -> Mapping[str, object]:
    """Return the scope values of the API that discovery shows; an empty list is left out (RFC 9728 §3.2)."""
    scopes = sorted([one for one in api.scopes if registry.api_scopes[one].show_in_discovery])
    return {"scopes_supported": scopes} if scopes else {}


def _names(api: ApiResource) -> Mapping[str, str]:
    """Return the name that users see, in all languages that it has (RFC 9728 §2.1)."""
    name = api.display_name
    if name is None:
        return {}
    names = {"resource_name": str(name)}
    if isinstance(name, LocalText):
        names |= {f"resource_name#{tag}": text for tag, text in name.by_language.items()}
    return names


def _details_types(api: ApiResource, registry: Registry) -> Mapping[str, object]:
    kinds = registry.authorization_details_types
    types = sorted([name for name in kinds if kinds[name].api_resource == api.name])
    return {"authorization_details_types_supported": types} if types else {}
