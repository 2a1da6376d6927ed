"""How long a wrong password takes, so that a refusal which computes less takes as long (OWASP ASVS 6.3.8)."""

from __future__ import annotations

import asyncio
import random
from collections import deque

REMEMBERED = 100


class RefusalTimes:
    """Those of the last refusals at the full cost, in this process."""

    def __init__(self) -> None:
        """Know of none."""
        self._seconds = deque[float](maxlen=REMEMBERED)

    @property
    def known(self) -> bool:
        """Whether there was one."""
        return bool(self._seconds)

    async def even_out(self, took: float, *, full_cost: bool) -> None:
        """Remember a refusal at the full cost; let any other take as long as one of them."""
        if full_cost:
            self._seconds.append(took)
        elif self._seconds:
            # One of them and not their mean, which nothing that is computed takes.
            await asyncio.sleep(random.choice(self._seconds) - took)  # noqa: S311 - no secret
