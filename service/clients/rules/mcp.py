"""The rules of the profile mcp: what clients of the Model Context Protocol need besides OAuth 2.1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from service.clients.rules.profile_rules import Rule
from service.config.problem import Finding, warning
from service.config.schema.file import ConfigurationFile
from service.model.client_entry import ClientEntry
from service.protocol.scope import OFFLINE_ACCESS

MCP = "mcp"
"""OAuth 2.1 and what MCP clients need besides: a profile of the whole registry only."""

_MCP = frozenset({MCP})


def apis_by_url(file: ConfigurationFile, _: Iterable[ClientEntry]) -> Iterator[Finding]:
    """MCP clients send the URL of an API as `resource` (RFC 8707 §2), and begin with its metadata (RFC 9728 §3)."""
    if not any(api.url or "://" in api.name for api in file.api_resources):
        message = "no API has a URL, which MCP clients send as resource (RFC 8707)"
        yield Finding(("api_resources",), message, "url: https://mcp.example.com/mcp")
    for at, api in enumerate(file.api_resources):
        if api.url is None and "://" in api.name:
            message = "is missing, so the API has no protected resource metadata (RFC 9728)"
            yield Finding(("api_resources", at, "url"), message, f"url: {api.name}")


def offline_access_is_listed(
    file: ConfigurationFile, clients: Iterable[ClientEntry]
) -> Iterator[Finding]:
    """MCP clients ask for offline_access where discovery lists it."""
    unlisted = [
        section.allowed_scopes
        for section in (file.registration, file.client_id_metadata)
        if section.enabled
    ]
    listed = any(client.allow_offline_access for client in clients)
    if not listed and not any(OFFLINE_ACCESS in scopes for scopes in unlisted):
        message = "no client may ask for offline_access, so discovery does not list it"
        yield Finding(("clients",), message, "set allow_offline_access: true on one")


def agents_need_no_operator(file: ConfigurationFile, _: Iterable[ClientEntry]) -> Iterator[Finding]:
    """Warn where each agent needs an entry of its own, because MCP clients expect to need none."""
    if not file.client_id_metadata.enabled and not file.registration.enabled:
        message = "is off, as is registration, so every MCP client needs an entry of its own"
        yield warning(("client_id_metadata", "enabled"), message, "set true")


RULES: tuple[Rule, ...] = (
    Rule(
        name="s256_in_metadata",
        says="the metadata list `S256` (RFC 8414 §2, MCP Authorization 2026-07-28)",
        profiles=_MCP,
        enforced=("service/endpoints/authorize.py",),
    ),
    Rule(
        name="resource_is_honoured",
        says="`resource` names an API by its URL, and its token has that URL as `aud` (RFC 8707 §2)",
        profiles=_MCP,
        enforced=("service/tokens/requested_access.py",),
    ),
    Rule(
        name="apis_by_url",
        says="an API has a URL, and each API with one has protected resource metadata (RFC 9728 §3)",
        profiles=_MCP,
        of_file=apis_by_url,
        whole_registry=True,
        enforced=("service/endpoints/protected_resource.py",),
    ),
    Rule(
        name="offline_access_is_listed",
        says="a client may ask for `offline_access`, and the metadata list it (OIDC Core §11)",
        profiles=_MCP,
        of_file=offline_access_is_listed,
        whole_registry=True,
        enforced=("service/endpoints/discovery.py",),
    ),
    Rule(
        name="agents_need_no_operator",
        says="clients have a metadata document, or register themselves; else a warning (MCP Authorization 2026-07-28)",
        profiles=_MCP,
        of_file=agents_need_no_operator,
        whole_registry=True,
        enforced=("service/clients/documents.py",),
    ),
)
