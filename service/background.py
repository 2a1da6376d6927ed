"""What goes on beside the requests, from the start of an app until it stops."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from aiohttp import web

from service.keys.following import follow
from service.parts import Parts
from service.web.beside import running_beside


def running(parts: Parts) -> Callable[[web.Application], AsyncIterator[None]]:
    """Keys are followed and clients told of logouts; at the end the connections are given back."""

    async def beside(_: web.Application) -> AsyncIterator[None]:
        await parts.key_source.start()
        async with running_beside(follow(parts.key_source), parts.logout_deliveries.run()):
            yield
        await parts.outgoing.close()
        await parts.guarded.close()
        await parts.kv.close()

    return beside
