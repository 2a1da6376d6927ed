"""The mixed load: all kinds of callers at the same time, for as long as a scenario lasts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from tests.chaos.machines import api, exchanger, gateway, machine, reader
from tests.chaos.people import Person, confirm, connect, race, signed_in, visit
from tests.chaos.site import Site
from tests.chaos.spending import LENIENT, STRICT

MACHINES: Sequence[Callable[[Site], Coroutine[Any, Any, None]]] = (
    machine,
    machine,
    exchanger,
    api,
    api,
    gateway,
    reader,
)
PEOPLE: Sequence[tuple[Callable[[Person], Coroutine[Any, Any, None]], str]] = (
    (visit, STRICT),
    (visit, LENIENT),
    (race, STRICT),
    (race, LENIENT),
    (connect, STRICT),
    (confirm, STRICT),
)
"""What they do, and with which client; each worker waits for one answer at a time."""


@asynccontextmanager
async def load(site: Site) -> AsyncIterator[None]:
    """Everybody works while the block lasts; what they have begun is finished."""
    async with AsyncExitStack() as browsers:
        people = [
            (work, await browsers.enter_async_context(signed_in(site, client)))
            for work, client in PEOPLE
        ]
        site.loaded.set()
        try:
            async with asyncio.TaskGroup() as tasks:
                for machines in MACHINES:
                    tasks.create_task(machines(site))
                for work, person in people:
                    tasks.create_task(work(person))
                yield
                site.loaded.clear()
        finally:
            site.loaded.clear()
