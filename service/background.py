"""What goes on beside the requests, from the start of an app until it stops."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from typing import Never

from aiohttp import web

from service.keys.following import follow
from service.observe.metrics import Metrics
from service.parts import Parts
from service.server.background_tasks import running_beside

SETTLING = 1
"""Seconds after which other workers can show what this one has seen, whether or not it was asked anything."""


def running(parts: Parts) -> Callable[[web.Application], AsyncIterator[None]]:
    """Keys are followed and clients told of logouts; at the end the connections are given back."""

    async def beside(_: web.Application) -> AsyncIterator[None]:
        async with nullcontext() if parts.spans is None else parts.spans.exported():
            await parts.key_source.start()
            async with running_beside(
                follow(parts.key_source),
                parts.logout_deliveries.run(),
                parts.store_memory.follow(),
                _settling(parts.metrics),
            ):
                yield
        parts.metrics.settle()
        await parts.outgoing.close()
        await parts.guarded.close()
        await parts.kv.close()

    return beside


async def _settling(metrics: Metrics) -> Never:
    while True:
        await sleep(SETTLING)
        metrics.settle()
