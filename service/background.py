"""Runs background work from the start of an app until it stops."""

from __future__ import annotations

from asyncio import Task, create_task, sleep, wait
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from typing import Never

from aiohttp import web

from service.keys.key_source import follow_keys
from service.observe.metrics import Metrics
from service.parts import Parts

SETTLING = 1
"""Seconds after which other workers can show what this one has counted, even if it serves no request."""


def background_work(parts: Parts) -> Callable[[web.Application], AsyncIterator[None]]:
    """Return what follows the keys and delivers logouts, and closes all connections at the end."""
    metrics, spans = parts.shared.metrics, parts.shared.spans

    async def run(_: web.Application) -> AsyncIterator[None]:
        async with nullcontext() if spans is None else spans.export():
            await parts.keys.source.start()
            works = (
                follow_keys(parts.keys.source),
                parts.logout_deliveries.run(),
                parts.shared.store_memory.follow(),
                _settle(metrics),
            )
            tasks = [create_task(work) for work in works]
            yield
            for task in tasks:
                await _stop(task)
        metrics.settle()
        await parts.shared.close()

    return run


async def _settle(metrics: Metrics) -> Never:
    while True:
        await sleep(SETTLING)
        metrics.settle()


async def _stop(task: Task[Never]) -> None:
    """Cancel until the task is over: up to Python 3.11, `asyncio.wait_for` can swallow a cancellation."""
    while not task.done():
        task.cancel()
        await wait([task], timeout=0.1)
