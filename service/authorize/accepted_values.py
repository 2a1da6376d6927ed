"""Lists the values that a refused parameter could have had, for the error page in development and for `explain`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from service.authorize.response_modes import RESPONSE_MODES
from service.clients.directory import Clients
from service.model.client import Client
from service.model.registry import LiveRegistry
from service.protocol.authorization_request import PROMPTS
from service.protocol.errors import RefusedValue

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
        accepted: dict[str, Iterable[str]] = {
            "client_id": self.registry.current.permissions,
            "resource": self.registry.current.api_resources,
            "response_mode": RESPONSE_MODES,
            "prompt": PROMPTS,
            **(_registered_values(client) if client else {}),
        }
        ordered = sorted(accepted.get(refused.parameter or "", ()))
        return tuple(get_close_matches((refused.value or "")[:200], ordered, n=MOST, cutoff=0))


def _registered_values(client: Client) -> dict[str, Iterable[str]]:
    return {
        "redirect_uri": client.redirect_uris,
        "scope": client.permissions.scope,
        "response_type": client.allowed_response_types,
        "grant_type": client.allowed_grant_types,
        "request_uri": client.request_uris or (),
    }
