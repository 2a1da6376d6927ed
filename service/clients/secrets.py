"""Finds whose secret a request holds, by fast hashes first and slow ones at last."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

import msgspec

from service.model.secret import Secret, verifies_any

FindSlow = Callable[[str, Sequence[str]], Awaitable[str | None]]
"""Returns which of these slow hashes is the secret's. Where none is, its time does not tell how many there were."""


class SharedSecrets(msgspec.Struct, frozen=True):
    find_slow: FindSlow

    async def find_owner(
        self, parties: Sequence[Collection[Secret]], given: str, *, now: int
    ) -> int | None:
        """Return the place of the first party that has this secret; as slow without any party."""
        checked = (verifies_any(secrets, given, now=now) for secrets in parties)
        fast = next((at for at, fits in enumerate(checked) if fits), None)
        owners = {
            secret.hash: at
            for at, secrets in enumerate(parties[:fast])
            for secret in secrets
            if secret.hash is not None and secret.is_valid(now)
        }
        if fast is not None and not owners:
            return fast
        right = await self.find_slow(given, [*owners])
        return fast if right is None else owners[right]

    async def verifies_any(self, secrets: Collection[Secret], given: str, *, now: int) -> bool:
        """Return whether a secret is one of these and has not expired; as slow without any."""
        return await self.find_owner((secrets,), given, now=now) is not None
