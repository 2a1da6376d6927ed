"""Finds clients: those of config.yaml, and those that registered dynamically (RFC 7591)."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

import structlog

from service.caching import BoundedCache
from service.clients.registration.metadata import RegistrationPolicy
from service.keys.sealing import Seal, Unreadable
from service.model.client import Client, Permissions, RegisteredClient, selector_of
from service.model.registry import LiveRegistry
from service.store.stores import Stores
from service.store.verbs import Read

log = structlog.stdlib.get_logger(__name__)

CACHED_CLIENTS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredClients:
    """Reads the record each time, so that a deleted client is unknown at once on every replica."""

    stores: Stores
    policy: RegistrationPolicy
    seal: Seal
    _built: BoundedCache[bytes, Client] = field(
        default_factory=lambda: BoundedCache[bytes, Client](CACHED_CLIENTS), init=False
    )
    """By the hash of the record."""

    async def find(self, client_id: str) -> Client | None:
        selector = selector_of(client_id)
        if selector is None:
            return None
        key = self.stores.registered_clients.key(selector)
        (client,) = await self.stores.kv.read(Read(key, self._build))
        return client

    def _build(self, value: bytes) -> Client:
        name = sha256(value).digest()
        client = self._built.get(name)
        if client is None:
            record = self.stores.registered_clients.decode(value)
            client = self.policy.build_client(record, secret_value=self._open_secret(record))
            self._built.put(name, client)
        return client

    def _open_secret(self, record: RegisteredClient) -> str | None:
        """Return the secret; None refuses the algorithms that compute with it."""
        if record.sealed_secret is None:
            return None
        try:
            return self.seal.open_text(record.sealed_secret)
        except Unreadable:
            log.error("a client's secret cannot be decrypted", client_id=record.client_id)  # noqa: TRY400 - nothing more is known
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """Looks into config.yaml first, which costs no request to the store."""

    registry: LiveRegistry
    registered: RegisteredClients | None
    """None if registration is off: then clients that registered before are unknown, too."""

    async def find_permissions(self, client_id: str) -> Permissions | None:
        """Return what the client may do; None if it is disabled or unknown."""
        client = await self.find(client_id)
        return client.permissions if client is not None and client.enabled else None

    async def find(self, client_id: str) -> Client | None:
        """Return the client, enabled or not."""
        configured = self.registry.current.clients.get(client_id)
        if configured is not None or self.registered is None:
            return configured
        return await self.registered.find(client_id)
