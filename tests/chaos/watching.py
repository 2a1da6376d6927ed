"""Watches each replica: its readiness, its keys, and the recovery of all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout

from tests.chaos.fault import Fault
from tests.chaos.ledger import Look
from tests.chaos.promises import is_failure
from tests.chaos.site import Site

INTERVAL = 0.1
"""Seconds between two looks."""
QUIET = 0.5
"""Seconds without a failure after which all is well."""
LOOKS = 500
"""How far back to look."""


@asynccontextmanager
async def watching(site: Site) -> AsyncIterator[None]:
    """Look at all replicas while the block lasts, and a last time at its end."""
    async with ClientSession(timeout=ClientTimeout(total=2)) as http:
        looking = [asyncio.create_task(_watch(site, http, name)) for name in site.replicas]
        try:
            yield
        finally:
            for task in looking:
                task.cancel()
            await asyncio.gather(*looking, return_exceptions=True)
        await asyncio.gather(*(_look(site, http, name) for name in site.replicas))


def last_looks(site: Site) -> dict[str, Look]:
    """The last answer of each replica."""
    return {look.replica: look for look in site.ledger.looks[-LOOKS:]}


async def all_well(site: Site, fault: Fault) -> None:
    """Wait until every replica is ready and nothing has failed for a while, in the time that is promised."""
    until = max(monotonic(), fault.mended) + fault.patience
    while monotonic() < until:
        if all(look.reasons == () for look in last_looks(site).values()) and not _fails(site):
            return
        await asyncio.sleep(INTERVAL)
    fault.broken.append(f"not well {fault.patience} s after the end of the fault")


def _fails(site: Site) -> bool:
    recent = monotonic() - QUIET
    return any(each.ended > recent and is_failure(each) for each in site.ledger.answers[-LOOKS:])


async def _watch(site: Site, http: ClientSession, name: str) -> None:
    while True:
        await _look(site, http, name)
        await asyncio.sleep(INTERVAL)


async def _look(site: Site, http: ClientSession, name: str) -> None:
    began, url = monotonic(), site.replicas[name]
    said, kids = await _json(http, f"{url}/health/ready"), None
    if said is not None and (kids := await _kids(http, url)) is None:
        said = await _json(http, f"{url}/health/ready")  # has it ended meanwhile?
    reasons = None if said is None else tuple(said.get("reasons", ()))
    registry, degraded = (said or {}).get("registry"), (said or {}).get("degraded", ())
    look = Look(name, began, monotonic(), reasons, kids or frozenset(), registry, tuple(degraded))
    site.ledger.looks.append(look)


async def _kids(http: ClientSession, url: str) -> frozenset[str] | None:
    shown = await _json(http, f"{url}/.well-known/jwks.json")
    return None if shown is None else frozenset(key["kid"] for key in shown.get("keys", ()))


async def _json(http: ClientSession, url: str) -> Any:
    """The answer there, if there is one."""
    try:
        async with http.get(url) as response:
            return await response.json()
    except (ClientError, TimeoutError):
        return None
