"""One connection for all requests: replies reach whom they belong to, whatever happens in between."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import pytest
from redis import Redis

from service.store import verbs
from service.store.engine.channels import Multiplexed
from service.store.engine.connection import Connection
from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.opening import open_store
from service.store.verbs import Read

pytestmark = pytest.mark.needs("redis-server")

Mortal = tuple[str, "subprocess.Popen[bytes]"]


@pytest.fixture
async def kv(redis_server: str) -> AsyncIterator[KeyValue]:
    with Redis.from_url(redis_server) as redis:
        redis.flushall()
    store = open_store(redis_server, timeout=30)
    yield store
    await store.close()


@pytest.fixture
def admin(redis_server: str) -> Redis:
    """Another connection, to do harm with."""
    return Redis.from_url(redis_server)


async def store_of_paused(mortal_redis: Mortal) -> KeyValue:
    """A store that waits a second for a Redis that has `k`, and that stands still until it gets SIGCONT."""
    url, process = mortal_redis
    with Redis.from_url(url) as redis:
        redis.set("k", 1, ex=600)
    kv = open_store(url, timeout=1)
    await until_found(kv, "k")
    stop(process)
    return kv


def stop(process: subprocess.Popen[bytes]) -> None:
    """Let it stand still, until SIGCONT."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)


async def until_found(kv: KeyValue, key: str) -> None:
    """Read until the store answers; it has little patience with a busy machine."""
    async with asyncio.timeout(60):
        while True:
            with suppress(StoreUnavailable):
                assert await number(kv, key) == 1
                return
            await asyncio.sleep(0.05)


async def number(kv: KeyValue, key: str) -> int | None:
    (found,) = await kv.read(Read(key, int))
    return found


async def test_each_caller_of_one_turn_gets_its_own_reply(kv: KeyValue) -> None:
    await kv.write(*[("SET", f"k{n}", str(n).encode(), "EX", 60) for n in range(200)])
    found = await asyncio.gather(*[number(kv, f"k{n}") for n in range(200)])
    assert found == list(range(200))


async def test_a_cancelled_request_never_shifts_the_replies_of_others(kv: KeyValue) -> None:
    await kv.write(*[("SET", f"k{n}", str(n).encode(), "EX", 60) for n in range(50)])

    async def ask_for(n: int) -> tuple[int, int | None]:
        return n, await number(kv, f"k{n}")

    dice = random.Random(1)  # noqa: S311 - to repeat a failure
    tasks = [asyncio.create_task(ask_for(dice.randrange(50))) for _ in range(5000)]
    for task in dice.sample(tasks, 2500):
        asyncio.get_running_loop().call_later(dice.random() / 20, task.cancel)
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    answered = [each for each in answers if not isinstance(each, BaseException)]
    assert len(answered) >= 2500
    assert all(n == found for n, found in answered)


async def test_replies_are_those_of_the_verbs(kv: KeyValue) -> None:
    new, again = await kv.write(
        ("SET", "k", b"1", "EX", 60, "NX"), ("SET", "k", b"2", "EX", 60, "NX")
    )
    assert (bool(new), bool(again)) == (True, False)
    assert await kv.write(
        ("SET", "k", b"3", "EX", 60, "XX", "GET"), ("SET", "none", b"3", "EX", 60, "XX", "GET")
    ) == [b"1", None]
    assert await kv.write(("EXISTS", "k"), verbs.count("n", 60), verbs.count("n", 60)) == [1, 1, 2]


async def test_a_command_that_cannot_be_packed_shifts_no_replies(kv: KeyValue) -> None:
    await kv.write(*[("SET", f"k{n}", str(n).encode(), "EX", 60) for n in range(3)])
    keys = ["k0", "\ud800", "k1", "k2"]
    found = await asyncio.gather(*[number(kv, key) for key in keys], return_exceptions=True)
    assert isinstance(found.pop(1), UnicodeEncodeError)
    assert found == [0, 1, 2]


async def test_a_lost_connection_is_opened_again(kv: KeyValue, admin: Redis) -> None:
    await kv.write(("SET", "k", b"1", "EX", 60))
    admin.client_kill_filter(_type="normal", skipme=True)
    assert await number(kv, "k") == 1


async def test_a_refusal_is_an_error_and_others_go_on(kv: KeyValue) -> None:
    await kv.write(("SET", "text", b"x", "EX", 60), ("SET", "k", b"1", "EX", 60))
    refused, found = await asyncio.gather(
        kv.write(verbs.count("text", 60)), number(kv, "k"), return_exceptions=True
    )
    assert isinstance(refused, StoreUnavailable)
    assert found == 1


async def test_a_frozen_redis_is_reported_in_time_and_forgotten_afterwards(
    mortal_redis: Mortal,
) -> None:
    kv = await store_of_paused(mortal_redis)
    answers: list[Any] = await asyncio.gather(
        *[number(kv, "k") for _ in range(20)], return_exceptions=True
    )
    assert all(isinstance(each, StoreUnavailable) for each in answers)
    mortal_redis[1].send_signal(signal.SIGCONT)
    await until_found(kv, "k")
    await kv.close()


async def test_a_paused_process_reads_replies_before_it_reports_a_timeout(
    mortal_redis: Mortal,
) -> None:
    """As under a CPU limit: two pauses in one turn of the loop, and the reply comes during the second."""
    kv = await store_of_paused(mortal_redis)

    def pause() -> None:
        mortal_redis[1].send_signal(signal.SIGCONT)
        time.sleep(1.5)

    loop = asyncio.get_running_loop()
    loop.call_later(0.01, time.sleep, 0.08)
    loop.call_later(0.02, pause)
    assert await number(kv, "k") == 1
    await kv.close()


async def test_a_port_without_a_listener_is_reported_at_once(
    unused_tcp_port_factory: Callable[[], int],
) -> None:
    kv = open_store(f"redis://127.0.0.1:{unused_tcp_port_factory()}", timeout=1)
    with pytest.raises(StoreUnavailable):
        await number(kv, "k")
    assert kv.failures == 1
    await kv.close()


async def test_a_server_that_accepts_and_is_silent_is_reported_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        kv = open_store(f"redis://127.0.0.1:{silent.getsockname()[1]}", timeout=0.5)
        async with asyncio.timeout(60):
            with pytest.raises(StoreUnavailable):
                await number(kv, "k")
        await kv.close()


async def test_callers_that_wait_for_a_connection_are_refused_when_the_store_closes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        kv = open_store(f"redis://127.0.0.1:{silent.getsockname()[1]}", timeout=5)
        waiting = asyncio.create_task(kv.ping())
        await asyncio.sleep(0.1)
        await kv.close()
        with pytest.raises(StoreUnavailable):
            await waiting


async def test_a_closed_store_opens_no_connection_again(kv: KeyValue) -> None:
    await kv.ping()
    await kv.close()
    with pytest.raises(StoreUnavailable):
        await kv.ping()
    assert not kv.circuit_open


async def test_what_a_silent_redis_may_still_execute_is_not_sent_again() -> None:
    """Its first execution might come after a revocation that was answered on the new connection."""
    connections = list[asyncio.StreamWriter]()

    async with await asyncio.start_server(
        lambda _, writer: connections.append(writer), "127.0.0.1"
    ) as server:
        address = server.sockets[0].getsockname()

        async def connect(make_connection: Callable[[], Connection]) -> Connection:
            loop = asyncio.get_running_loop()
            return (await loop.create_connection(make_connection, *address))[1]

        channel = Multiplexed(connect, patience=60)
        answers = await asyncio.gather(
            channel.ask([("SET", "old", "1")], seconds=0),
            channel.ask([("SET", "new", "1")], seconds=60),
            return_exceptions=True,
        )
        channel.close()
        for each in connections:
            each.close()
    assert [type(each) for each in answers] == [TimeoutError, TimeoutError]
    assert len(connections) == 1
