"""Lists what a refused parameter could have been, for the error page in development and for `explain`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast

from service.authorize.response_modes import RESPONSE_MODES
from service.clients.directory import Clients
from service.model.client import Client
from service.model.registry import LiveRegistry, Registry
from service.protocol.prompt import PROMPTS
from service.protocol.refused_value import RefusedValue
from service.protocol.scope import OFFLINE_ACCESS

MOST = 20
"""Values that are listed; the nearest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedValues:
    """Reads the registration that a refused value did not match."""

    clients: Clients
    registry: LiveRegistry

    async def find(self, refused: RefusedValue) -> tuple[str, ...]:
        """Return the values that would have been accepted, the nearest first."""
        client = await self.clients.find(refused.client_id) if refused.client_id else None
        accepted = _list_accepted(refused.parameter, client, self.registry.current)
        return _nearest_first(refused.value or "", accepted)


def _list_accepted(
    parameter: str | None, client: Client | None, registry: Registry
) -> Iterable[str]:
    match parameter:
        case "client_id":
            return registry.permissions
        case "resource":
            return registry.api_resources
        case "response_mode":
            return RESPONSE_MODES
        case "prompt":
            return PROMPTS
        case _:
            return _list_registered(parameter, client) if client is not None else ()


def _list_registered(parameter: str | None, client: Client) -> Iterable[str]:
    """Return what the client registered."""
    match parameter:
        case "redirect_uri":
            return client.redirect_uris
        case "scope":
            offline = {OFFLINE_ACCESS} if client.allow_offline_access else frozenset[str]()
            return client.allowed_scopes | offline
        case "response_type":
            return client.allowed_response_types
        case "grant_type":
            return client.allowed_grant_types
        case "request_uri":
            return cast("tuple[str, ...]", client.metadata.get("request_uris", ()))
        case _:
            return ()


def _nearest_first(value: str, accepted: Iterable[str]) -> tuple[str, ...]:
    ordered = sorted(accepted)
    return tuple(get_close_matches(value[:200], ordered, n=MOST, cutoff=0))
