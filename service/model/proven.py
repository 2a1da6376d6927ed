"""Credentials that were proven a moment ago need not be taken apart again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Generic, TypeVar

from service.model.client import Secret
from service.model.credentials import CredentialSource
from service.model.registry import Registry

T = TypeVar("T")

MOST = 10_000
"""Entries; more than that many credentials are not in use."""

_OTHERWISE = frozenset({"client_secret", "client_assertion", "client_assertion_type"})


@dataclass(slots=True)
class Proven(Generic[T]):
    """Who sent a Basic header that was proven under the registry in force, by the header's hash.

    Every API sends the same header with every question. Only what was proven is remembered, so
    nobody fills the memory; only hashes are, so no secret stays in it; and looking a hash up tells
    nothing of the secrets that it is not of.
    """

    _senders: dict[bytes, tuple[T, str, int | None]] = field(default_factory=dict)
    _registry: Registry | None = None

    def find(self, source: CredentialSource, registry: Registry) -> T | None:
        """The sender, if the header alone authenticates the request and has been proven."""
        if source.authorization is None or registry is not self._registry:
            return None
        known = self._senders.get(_hash(source.authorization))
        if known is None:
            return None
        sender, name, until = known
        sent = source.params.values
        if not _OTHERWISE.isdisjoint(sent) or sent.get("client_id", (name,)) != (name,):
            return None
        if until is not None and until <= source.now:
            return None
        return sender

    def remember(
        self,
        source: CredentialSource,
        registry: Registry,
        sender: T,
        *,
        name: str,
        secrets: Collection[Secret],
    ) -> None:
        """Note who was proven, until the first of the sender's secrets expires."""
        if source.authorization is None:
            return
        if registry is not self._registry or len(self._senders) >= MOST:
            self._senders, self._registry = {}, registry
        expiries = [secret.expires_at for secret in secrets if secret.expires_at is not None]
        until = min((at for at in expiries if at > source.now), default=None)
        self._senders[_hash(source.authorization)] = (sender, name, until)


def _hash(header: str) -> bytes:
    """SHA-256 of the header's bytes, whatever they were."""
    return sha256(header.encode(errors="surrogateescape")).digest()
