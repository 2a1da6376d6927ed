"""Which client is this? Those of the operator's file, and those that registered themselves."""

from __future__ import annotations

from dataclasses import dataclass

from service.clients.registration.registered_clients import RegisteredClients
from service.model.client import Client, Permissions
from service.model.registry import LiveRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """Finds clients; one that the operator wrote down costs no look into the store."""

    registry: LiveRegistry
    registered: RegisteredClients | None
    """None where registration is off: then those that registered before are unknown, too."""

    def in_file(self, client_id: str) -> Client | None:
        """The client of this id, if the operator wrote it down."""
        return self.registry.current.clients.get(client_id)

    def permissions_in_file(self, client_id: str) -> Permissions | None:
        """Return what a client may do that the operator wrote down and did not disable."""
        return self.registry.current.permissions.get(client_id)

    async def find_permissions(self, client_id: str) -> Permissions | None:
        """Return what the client may do; None if it is disabled or unknown."""
        written_down = self.permissions_in_file(client_id)
        if written_down is not None:
            return written_down
        client = await self.find(client_id)
        return client.permissions if client is not None and client.enabled else None

    async def find(self, client_id: str) -> Client | None:
        """The client of this id, enabled or not."""
        written_down = self.in_file(client_id)
        if written_down is not None or self.registered is None:
            return written_down
        return await self.registered.find(client_id)
