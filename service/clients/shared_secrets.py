"""Finds whose secret was sent, in the same time for an unknown client as for a wrong secret (RFC 6749 §2.3.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

import msgspec

from service.model.client import Client
from service.model.credentials import Evidence
from service.model.secret import Secret, find_secret

FindSlow = Callable[[str, Sequence[str]], Awaitable[str | None]]
"""Returns which of these slow hashes is the secret's. Where none is, its time does not tell how many there were."""


class SharedSecrets(msgspec.Struct, frozen=True):
    find_slow: FindSlow

    async def find(
        self, parties: Sequence[Collection[Secret]], given: str, *, now: int
    ) -> tuple[int, Secret] | None:
        """Return the place of the first party that has this secret, and the secret; as slow without any party."""
        checked = (find_secret(secrets, given, now=now) for secrets in parties)
        fast = next(((at, one) for at, one in enumerate(checked) if one is not None), None)
        owners = {
            secret.hash: (at, secret)
            for at, secrets in enumerate(parties[: fast[0] if fast else None])
            for secret in secrets
            if secret.hash is not None and secret.is_valid(now)
        }
        if fast is not None and not owners:
            return fast
        right = await self.find_slow(given, [*owners])
        return fast if right is None else owners[right]

    async def prove(self, evidence: Evidence, client: Client | None) -> Secret | bool:
        """Return the secret of the client that was sent; False for a wrong or expired one, as slow without a client."""
        secrets = client.client_secrets if client else ()
        found = await self.find((secrets,), evidence.proof, now=evidence.request.now)
        return found is not None and found[1]
