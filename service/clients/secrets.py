"""Finds whose secret a request holds, by fast hashes first and slow ones at last."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

import msgspec

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

    async def find_among(
        self, secrets: Collection[Secret], given: str, *, now: int
    ) -> Secret | None:
        """Return the one of these that this is, unless it has expired; as slow without any."""
        found = await self.find((secrets,), given, now=now)
        return None if found is None else found[1]
