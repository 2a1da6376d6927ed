"""The clients that registered themselves, as the store has them (RFC 7591)."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

import structlog

from service.caching.bounded_cache import BoundedCache
from service.clients.registration.metadata import RegistrationPolicy
from service.keys.sealing import Seal, Unreadable
from service.model.client import Client
from service.model.registered_client import RegisteredClient, selector_of
from service.store.stores import Stores
from service.store.verbs import Read

log = structlog.stdlib.get_logger(__name__)

MAX_MADE = 500
"""Clients that are kept as they were made of their records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredClients:
    """Reads a record each time, so that a client that was deleted is unknown at once and everywhere."""

    stores: Stores
    policy: RegistrationPolicy
    seal: Seal
    _made: BoundedCache[bytes, Client] = field(
        default_factory=lambda: BoundedCache[bytes, Client](MAX_MADE), init=False
    )

    async def find(self, client_id: str) -> Client | None:
        """The client; an id of another form is no client's and costs no look-up."""
        selector = selector_of(client_id)
        if selector is None:
            return None
        key = self.stores.registered_clients.key(selector)
        (client,) = await self.stores.kv.read(Read(key, self._client))
        return client

    def _client(self, value: bytes) -> Client:
        """The client that these bytes stand for, made once."""
        name = sha256(value).digest()
        made = self._made.get(name)
        if made is None:
            record = self.stores.registered_clients.decode(value)
            made = self.policy.client(record, secret_value=self._secret_value(record))
            self._made.put(name, made)
        return made

    def _secret_value(self, record: RegisteredClient) -> str | None:
        """The secret itself, where an algorithm needs it; without it those algorithms are refused."""
        if record.sealed_secret is None:
            return None
        try:
            return self.seal.open_text(record.sealed_secret)
        except Unreadable:
            log.error("a client's secret cannot be decrypted", client_id=record.client_id)  # noqa: TRY400 - nothing more is known
            return None
