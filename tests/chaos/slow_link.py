"""A way to a server on loopback on which every byte of an answer takes its time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic


@dataclass
class SlowLink:
    """Listens on a port of its own, in a thread of its own; the delay may change at any time."""

    target: int
    port: int = 0
    delay: float = 0
    """Seconds that an answer is held back; what follows it is never faster."""

    async def serve(self, listening: Future[Callable[[], object]]) -> None:
        """Tells how it is stopped, and goes on until then."""
        stopped = asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        loop = asyncio.get_running_loop()
        listening.set_result(lambda: loop.call_soon_threadsafe(stopped.set))
        await stopped.wait()
        server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, questions = await asyncio.open_connection("127.0.0.1", self.target)
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._pass_on(reader, questions, slowly=False))
                ways.create_task(self._pass_on(answers, writer, slowly=True))
        except* (OSError, asyncio.CancelledError):
            pass  # at the end of the block; asyncio would print what is cancelled then
        finally:
            writer.close()
            questions.close()

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, slowly: bool
    ) -> None:
        """Each chunk as late as the delay says when it came, so that many may be under way."""
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def arrive() -> None:
            while (due_and_chunk := await under_way.get())[1]:
                due, chunk = due_and_chunk
                await asyncio.sleep(max(0, due - monotonic()))
                target.write(chunk)
            target.close()

        async with asyncio.TaskGroup() as both:
            both.create_task(arrive())
            chunk = b"anything"
            while chunk:
                chunk = await source.read(65536)
                under_way.put_nowait((monotonic() + (self.delay if slowly else 0), chunk))


@contextmanager
def slow_link(target: int) -> Iterator[SlowLink]:
    """A way to that port, open while the block lasts."""
    link = SlowLink(target)
    listening: Future[Callable[[], object]] = Future()
    thread = threading.Thread(target=asyncio.run, args=(link.serve(listening),))
    thread.start()
    stop = listening.result()
    try:
        yield link
    finally:
        stop()
        thread.join()
