"""Finds clients: of config.yaml, made by rules of it, dynamically registered (RFC 7591), or named by a URL."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec
import structlog
from msgspec.structs import replace

from service.caching import BoundedCache
from service.keys.sealing import Seal, Unreadable
from service.model.client import Client, Permissions
from service.model.client_metadata import RegisteredClient, selector_of
from service.model.registry import LiveRegistry, Registry
from service.protocol.errors import OAuthError
from service.store.stores import Stores
from service.store.verbs import Read

if TYPE_CHECKING:
    from service.clients.documents import ClientDocuments
    from service.clients.registration.metadata import RegistrationPolicy

log = structlog.stdlib.get_logger(__name__)

CACHED_CLIENTS = 500

CACHED_MADE = 5000
"""Clients that rules make; an introspection of each token needs its client."""


class RegisteredClients(msgspec.Struct, frozen=True, kw_only=True):
    """Reads the record each time, so that a deleted client is unknown at once on every replica."""

    stores: Stores
    policy: RegistrationPolicy
    seal: Seal
    _built: BoundedCache[bytes, Client] = msgspec.field(
        default_factory=lambda: BoundedCache[bytes, Client](CACHED_CLIENTS)
    )
    """By the hash of the record."""

    async def find(self, client_id: str) -> Client | None:
        selector = selector_of(client_id)
        if selector is None:
            return None
        key = self.stores.registered_clients.key(selector)
        (client,) = await self.stores.kv.read(Read(key, self._build))
        return client

    async def find_all(self, client_ids: Sequence[str]) -> list[tuple[RegisteredClient, Client]]:
        """Return those of these clients that there are, each with its record."""
        records = self.stores.registered_clients
        selectors = filter(None, map(selector_of, client_ids))
        found = await self.stores.kv.read(
            *[
                Read(records.key(one), lambda value: (records.decode(value), self._build(value)))
                for one in selectors
            ]
        )
        return [one for one in found if one is not None]

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


class Clients(msgspec.Struct, frozen=True, kw_only=True):
    """Looks into config.yaml first, which costs no request to the store; nobody is a template."""

    registry: LiveRegistry
    registered: RegisteredClients | None
    """None if registration is off: then clients that registered before are unknown, too."""
    documents: ClientDocuments | None
    """None unless URLs can be client_ids."""
    _made: BoundedCache[tuple[str, str], Client] = msgspec.field(
        default_factory=lambda: BoundedCache[tuple[str, str], Client](CACHED_MADE)
    )
    """By the registry's generation and the client_id."""

    async def find_permissions(self, client_id: str) -> Permissions | None:
        """Return what the client may do; None if it is disabled or unknown. No metadata document is fetched for it."""
        known = self.registry.current.permissions.get(client_id)
        if known is not None:
            return known
        if self.documents is not None and self._find_configured(client_id) is None:
            permissions = self.documents.find_permissions(client_id)
            if permissions is not None:
                return permissions
        client = await self.find(client_id)
        return client.permissions if client is not None and client.enabled else None

    async def find(self, client_id: str) -> Client | None:
        """Return the client, enabled or not; None also for one whose metadata document cannot be read now."""
        try:
            return await self.resolve(client_id)
        except OAuthError:
            return None

    async def resolve(self, client_id: str) -> Client | None:
        """Return the client, enabled or not; an OAuthError says why its metadata document cannot be used."""
        client = self._find_configured(client_id)
        if client is not None:
            return None if client.template else client
        if self.registered is not None and selector_of(client_id) is not None:
            return await self.registered.find(client_id)
        return None if self.documents is None else await self.documents.find(client_id)

    def _find_configured(self, client_id: str) -> Client | None:
        """Return the client of an entry, which may be a template, or of a rule; that of the console comes from neither."""
        registry = self.registry.current
        console = registry.console_client
        if console is not None and client_id == console.client_id:
            return console
        configured = registry.clients.get(client_id)
        return self._find_made(client_id, registry) if configured is None else configured

    def _find_made(self, client_id: str, registry: Registry) -> Client | None:
        """Return the client that a rule of the operator makes, with the settings of the rule's template.

        Its id is never one that an API resource has, or that a dynamically registered client may have.
        """
        if selector_of(client_id) or client_id in registry.api_resources:
            return None
        key = registry.generation, client_id
        client = self._made.get(key)
        template = registry.find_template(client_id) if client is None else None
        if template is not None and template in registry.clients:
            client = replace(registry.clients[template], client_id=client_id, template=False)
            self._made.put(key, client)
        return client
