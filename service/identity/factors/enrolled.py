"""Reads and changes the second factors of a person, wherever they are kept."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from service.model.factors import Factors, FactorStore
from service.model.handle import new_selector
from service.protocol.errors import TemporarilyUnavailable

ATTEMPTS = 10
"""Changes of the same person's factors at the same moment that one of them waits for."""


class EnrolledFactors(msgspec.Struct, frozen=True):
    """Each change is made once over all replicas, because it replaces exactly the version that it was computed from."""

    store: FactorStore

    async def find(self, sub: str) -> Factors:
        return await self.store.find_factors(sub)

    async def change(self, sub: str, change: Callable[[Factors], Factors | None]) -> Factors | None:
        """Store what `change` makes of the factors; None where it makes nothing of them, such as of a used code.

        It is called again if somebody else was faster, with what is stored by then.
        """
        for _ in range(ATTEMPTS):
            before = await self.store.find_factors(sub)
            after = change(before)
            if after is None:
                return None
            after = replace(after, version=new_selector())
            if await self.store.replace_factors(sub, after, instead_of=before.version):
                return after
        raise TemporarilyUnavailable("the second factors change too often at once")
