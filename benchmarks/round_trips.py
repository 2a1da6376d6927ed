"""Counts the Redis commands of one request on the wire, by a proxy between the service and Redis."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import hiredis
from aiohttp import ClientSession, DummyCookieJar
from yarl import URL

from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.load import Requests
from benchmarks.machine import free_port
from benchmarks.servers import Servers, features_of
from benchmarks.users import with_users
from benchmarks.work import Work
from benchmarks.works import WORKS

TRIES = 5
"""Requests of each work; the service's own looks at keys and queues disturb no more than one."""


@dataclass(slots=True)
class Asked:
    """The traffic since the last call."""

    round_trips: int = 0
    commands: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Proxy:
    """Passes everything on; a round trip begins where somebody asks after a reply."""

    redis_url: str
    asked: Asked = field(default_factory=Asked)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        redis = urlsplit(self.redis_url)
        replies, questions = await asyncio.open_connection(redis.hostname, redis.port)
        turn = [False]  # whether the last that passed was a question
        # A service that still runs when all is counted is cut off.
        with suppress(asyncio.CancelledError):
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(reader, questions, turn, asks=True))
                both.create_task(self._pass(replies, writer, turn, asks=False))

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        turn: list[bool],
        *,
        asks: bool,
    ) -> None:
        parser = hiredis.Reader(encoding="latin-1")
        while received := await reader.read(1 << 16):
            if asks:
                parser.feed(received)
                self.asked.round_trips += not turn[0]
                while (command := parser.gets()) is not False:
                    self.asked.commands.append(command[0])
            turn[0] = asks
            writer.write(received)
            await writer.drain()
        writer.close()


def measure(effort: Effort) -> list[Finding]:
    """Round trips of each work, with the commands in its name."""
    counted = asyncio.run(count([work for work in WORKS if (effort.only or "") in work.name]))
    return [
        Finding(
            what=f"{work.name}: {spelled(asked.commands)}",
            figure=asked.round_trips,
            unit="round trips",
            at_most=work.round_trips,
        )
        for work, asked in counted.items()
    ]


async def count(works: list[Work]) -> dict[Work, Asked]:
    """The Redis commands of one request, by work."""
    counted: dict[Work, Asked] = {}
    with ExitStack() as stack:
        servers = Servers(stack)
        folder = Path(stack.enter_context(TemporaryDirectory()))
        redis_url = await asyncio.to_thread(servers.redis)
        async with (
            listening(redis_url) as (proxy, proxy_url),
            ClientSession(cookie_jar=DummyCookieJar()) as session,
        ):
            configuration = with_users(folder)
            service = await asyncio.to_thread(
                partial(servers.service, proxy_url, configuration=configuration)
            )
            async with features_of(redis_url, configuration) as features:
                for work in works:
                    requests = await work.prepare(features, folder, TRIES)
                    counted[work] = await least(session, service.port, requests, proxy)
    return counted


@asynccontextmanager
async def listening(redis_url: str) -> AsyncGenerator[tuple[Proxy, str]]:
    """A proxy and where it listens."""
    proxy, port = Proxy(redis_url), free_port()
    # Its connections are the service's, which ends later; `async with` would wait for them from Python 3.12 on.
    with closing(await asyncio.start_server(proxy.connected, "127.0.0.1", port)):
        yield proxy, f"redis://127.0.0.1:{port}"


async def least(session: ClientSession, port: int, requests: Requests, proxy: Proxy) -> Asked:
    """The fewest Redis commands of several equal requests."""
    lines = requests.bodies.read_text().splitlines() if requests.bodies else [requests.body]
    tries: list[Asked] = []
    for body in (lines * TRIES)[:TRIES]:
        proxy.asked = Asked()
        await send(session, f"http://127.0.0.1:{port}{requests.path}", requests, body)
        tries.append(proxy.asked)
    return min(tries, key=lambda asked: len(asked.commands))


async def send(session: ClientSession, url: str, requests: Requests, line: str | None) -> None:
    """Send one request, and raise if the answer is not the right one."""
    body, proof, cookie = [*(line or "").split("\t"), "", ""][:3]
    sent = {
        "Authorization": requests.authorization,
        "DPoP": proof,
        "Cookie": cookie or requests.cookie,
    }
    headers = {name: value for name, value in sent.items() if value}
    if line is None or requests.are_queries:
        address = URL(f"{url}?{body}" if body else url, encoded=True)
        asking = session.get(address, headers=headers, allow_redirects=False)
    else:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        asking = session.post(url, data=body, headers=headers, allow_redirects=False)
    async with asking as answer:
        shown = answer.headers.get("Location") or await answer.text()
        if not requests.are_refused:
            answer.raise_for_status()
        if requests.shows not in shown:
            raise RuntimeError(f"{url} answered {answer.status}: {shown}")


def spelled(commands: list[str]) -> str:
    """The commands in the order of their first use, such as 2 GET, SET."""
    counts = Counter(commands)
    return ", ".join(f"{n} {name}" if n > 1 else name for name, n in counts.items()) or "nothing"
