"""A provider's slowness is not the store's: what follows has the store's whole time."""

from __future__ import annotations

import asyncio
from time import monotonic

from service.store.keyvalue import deadline
from service.store.uncounted import not_counted


async def test_a_slow_provider_leaves_the_store_its_time() -> None:
    deadline.set(monotonic() + 0.1)
    with not_counted():
        await asyncio.sleep(0.2)
    assert 0 < (deadline.get() or 0) - monotonic() <= 0.1


async def test_where_there_is_no_deadline_none_appears() -> None:
    deadline.set(None)
    with not_counted():
        pass
    assert deadline.get() is None
