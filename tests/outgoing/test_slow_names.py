"""A name server that does not answer delays only requests that need it (RFC 7591 §5)."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from service.model.outgoing import HttpRequest, Unreachable
from service.outgoing.guard import AT_ONCE, PER_DOMAIN, AddressPolicy
from service.outgoing.http_client import OutgoingHttp

pytestmark = pytest.mark.rfc("7591#5")


class NameServer:
    """Answers for names under `slow` when the test says so, and for all others at once."""

    def __init__(self) -> None:
        self.asked = Counter[str]()
        self.answering = threading.Event()
        self._getaddrinfo = socket.getaddrinfo

    def __call__(self, host: str, *rest: Any, **options: Any) -> Any:
        self.asked[host] += 1
        if host.endswith(".slow"):
            self.answering.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return self._getaddrinfo(host, *rest, **options)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    """All look-ups of the process."""
    names = NameServer()
    monkeypatch.setattr(socket, "getaddrinfo", names)
    yield names
    names.answering.set()


@pytest.fixture
async def guarded() -> AsyncIterator[OutgoingHttp]:
    """A client with a short timeout."""
    guarded = OutgoingHttp(timeout=0.2, ca_file=None, policy=AddressPolicy(()))
    yield guarded
    await guarded.close()


async def fetch(guarded: OutgoingHttp, *hosts: str) -> None:
    """All at once; none of them is reached."""
    asked = [guarded.fetch(HttpRequest(f"https://{host}/")) for host in hosts]
    ends = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(end) for end in ends} == {Unreachable}


async def test_providers_and_redis_never_wait_for_registered_clients_names(
    guarded: OutgoingHttp, names: NameServer, https: str
) -> None:
    await fetch(guarded, *[f"www.client{n}.slow" for n in range(100)])
    assert names.asked
    free = OutgoingHttp(timeout=60, ca_file=None, policy=None)
    with pytest.raises(Unreachable, match="Certificate"):  # that is, it was found and connected to
        await free.fetch(HttpRequest(https.replace("127.0.0.1", "localhost")))
    await free.close()


async def test_look_ups_are_counted_until_their_threads_are_back(
    guarded: OutgoingHttp, names: NameServer
) -> None:
    for attempt in range(3):
        await fetch(guarded, *[f"www{attempt}.client{n}.slow" for n in range(30)])
    assert names.asked.total() == AT_ONCE
    names.answering.set()
    while not names.asked["again.client.slow"]:
        await fetch(guarded, "again.client.slow")
    assert names.asked["again.client.slow"] == 1


async def test_one_slow_domain_leaves_room_for_the_others(
    guarded: OutgoingHttp, names: NameServer
) -> None:
    await fetch(guarded, *[f"www{n}.client.slow" for n in range(30)])
    await fetch(guarded, "www.other.slow")
    assert names.asked.total() == PER_DOMAIN + 1


async def test_look_ups_continue_after_the_system_had_no_thread_for_some(
    guarded: OutgoingHttp, names: NameServer
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        await fetch(guarded, *[f"www.client{n}.slow" for n in range(AT_ONCE)])
    await fetch(guarded, "again.client.slow")
    assert names.asked["again.client.slow"] == 1
