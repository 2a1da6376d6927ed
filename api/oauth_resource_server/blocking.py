"""Lets one code serve asynchronous and blocking callers: only what waits for the network needs an event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]

_starting = Lock()
_background: list[asyncio.AbstractEventLoop] = []
os.register_at_fork(after_in_child=_background.clear)  # a thread does not survive a fork


async def perform(work: Work[T]) -> T:
    """Run work that waits for the network: in the caller's event loop, or without one in this module's thread."""
    if _has_running_loop():
        return await work()
    return asyncio.run_coroutine_threadsafe(work(), _background_loop()).result()


def begin(work: Work[None]) -> None:
    """Begin such work, and do not wait for it; the work keeps its own task and handles its own errors."""
    if _has_running_loop():
        task = asyncio.get_running_loop().create_task(work())
        _begun.add(task)
        task.add_done_callback(_begun.discard)
    else:
        asyncio.run_coroutine_threadsafe(work(), _background_loop())


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that waits by `perform` only; for threads without an event loop."""
    if _has_running_loop():
        coroutine.close()
        raise RuntimeError("a blocking call in an event loop: await the asynchronous one instead")
    try:
        coroutine.send(None)
    except StopIteration as returned:
        result: T = returned.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine waits for something else than `perform`")


_begun: set[asyncio.Task[None]] = set()


def _has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _background_loop() -> asyncio.AbstractEventLoop:
    with _starting:
        if not _background:
            loop = asyncio.new_event_loop()
            Thread(target=loop.run_forever, name="oauth-resource-server", daemon=True).start()
            _background.append(loop)
        return _background[0]
