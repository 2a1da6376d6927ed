"""A notifier that remembers what it tells people."""

from __future__ import annotations

from service.model.factors import FactorNotice

told: list[FactorNotice] = []


class Teller:
    """A `users.notifier`."""

    async def notify(self, notice: FactorNotice) -> None:
        """Remember it."""
        told.append(notice)
