"""Which client is this? Those of the operator's file, and those that registered themselves."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.client import Client
from service.model.registry import LiveRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """Finds clients; one that the operator wrote down costs no look into the store."""

    registry: LiveRegistry

    async def find(self, client_id: str) -> Client | None:
        """The client of this id, enabled or not."""
        return self.registry.current.clients.get(client_id)
