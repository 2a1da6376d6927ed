"""What runs beside the requests: begun with the app, and over before it is."""

from __future__ import annotations

from asyncio import Task, create_task, wait
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Never


@asynccontextmanager
async def running_beside(*work: Coroutine[Any, Any, Never]) -> AsyncGenerator[None]:
    """Let all of this go on until the block is left."""
    tasks = [create_task(each) for each in work]
    yield
    for task in tasks:
        await _stopped(task)


async def _stopped(task: Task[Never]) -> None:
    """Cancel it until it is over: up to Python 3.11, `asyncio.wait_for` can swallow a cancellation."""
    while not task.done():
        task.cancel()
        await wait([task], timeout=0.1)
