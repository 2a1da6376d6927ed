"""Lists the values that a refused parameter could have had, for the error page in development and for `explain`."""

from __future__ import annotations

from collections.abc import Iterable

from service.authorize.response_modes import RESPONSE_MODE_NAMES
from service.clients.directory import Clients
from service.protocol.errors import RefusedValue

MOST = 20
"""Values that are listed; the nearest ones."""


async def find_accepted_values(refused: RefusedValue, clients: Clients) -> tuple[str, ...]:
    """Return the values that would have been accepted, the nearest first."""
    from difflib import get_close_matches  # noqa: PLC0415 - for a page that few see

    registry = clients.registry.current
    accepted: dict[str, Iterable[str]] = {
        "client_id": registry.permissions,
        "resource": registry.spell(registry.apis_by_identifier),
        "response_mode": RESPONSE_MODE_NAMES,
    }
    client = await clients.find(refused.client_id) if refused.client_id else None
    if client is not None:
        accepted |= {
            "redirect_uri": client.redirect_uris,
            "scope": client.permissions.scope,
            "response_type": client.allowed_response_types,
            "grant_type": client.allowed_grant_types,
            "request_uri": client.request_uris or (),
            "authorization_details": client.authorization_details_types or (),
        }
    ordered = sorted(accepted.get(refused.parameter or "", ()))
    return tuple(get_close_matches((refused.value or "")[:200], ordered, n=MOST, cutoff=0))
