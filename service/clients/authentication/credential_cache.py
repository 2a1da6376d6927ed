"""Remembers Basic headers that authenticated their sender (docs/decisions/clients/credential-cache.md)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Generic, TypeVar

import msgspec

from service.caching import BoundedCache
from service.clients.secret_uses import Use
from service.model.credentials import RequestCredentials, hash_header
from service.model.registry import Registry
from service.model.secret import Secret

T = TypeVar("T")

MAX_ENTRIES = 10_000


class Sender(msgspec.Struct, Generic[T], frozen=True):
    """The party that a header has authenticated."""

    party: T
    name: str
    expires_at: int | None
    """When the first of its secrets expires."""
    use: Use | None
    """The secret that is in the header, where uses are noted."""


class CredentialCache(Generic[T]):
    """Finds the sender of a header that was verified under the registry in force, by the header's hash.

    Every API sends the same header with every request. Only verified headers are added, so that
    nobody without a secret can fill the memory, and only their hashes are kept. The time of a
    look-up tells nothing about other secrets.
    """

    def __init__(self, credential_parameters: frozenset[str]) -> None:
        self._credential_parameters = credential_parameters
        self._senders: BoundedCache[bytes, Sender[T]] = BoundedCache(MAX_ENTRIES)
        self._registry: Registry | None = None

    def find(self, request: RequestCredentials, registry: Registry) -> Sender[T] | None:
        """Return the sender if the header alone authenticates the request."""
        if request.authorization is None or registry is not self._registry:
            return None
        name = request.authorization_hash or hash_header(request.authorization)
        known = self._senders.get_stale(name)  # the secrets' end is below
        if known is None:
            return None
        client_id, expires_at, sent = known.name, known.expires_at, request.params.values
        has_others = not self._credential_parameters.isdisjoint(sent)
        if has_others or sent.get("client_id", (client_id,)) != (client_id,):
            return None
        return None if expires_at is not None and expires_at <= request.now else known

    def remember(
        self,
        request: RequestCredentials,
        registry: Registry,
        sender: T,
        *,
        name: str,
        secrets: Collection[Secret],
        use: Use | None,
    ) -> None:
        """Add a sender, until the first of its secrets expires."""
        if request.authorization is None:
            return
        if registry is not self._registry:
            self._senders.clear()
            self._registry = registry
        expiries = [secret.expires_at for secret in secrets if secret.expires_at is not None]
        expires_at = min((at for at in expiries if at > request.now), default=None)
        hashed = request.authorization_hash or hash_header(request.authorization)
        self._senders.put(hashed, Sender(sender, name, expires_at, use))
