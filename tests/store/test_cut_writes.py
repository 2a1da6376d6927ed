"""A connection that dies in the middle of a write leaves no key without an end, wherever it was cut."""

from __future__ import annotations

import socket
from pathlib import Path

import hiredis
import pytest
from redis import Redis

from service.clock import clock
from service.model.authorization import Spent
from service.store import verbs
from service.store.stores import LOGOUT, Stores
from service.store.verbs import Command
from tests.conftest import redis_running
from tests.store.records.example import EXAMPLES, NOON

pytestmark = pytest.mark.needs("redis-server")

STEP = 7
"""Bytes between two places where a write is cut."""


def writes(stores: Stores) -> list[Command]:
    """One of every kind that makes a key."""
    return [
        stores.authorizations.put(EXAMPLES["az"], "id", ttl=60),  # type: ignore[arg-type]
        stores.codes.put(EXAMPLES["ac"], "id", "code", ttl=60),  # type: ignore[arg-type]
        stores.codes.swap(Spent(attempt="a", at=NOON), "id", "code", ttl=60),
        stores.logout_outbox.leases.put_new(True, LOGOUT, "delivery", ttl=60),
        stores.subject_sessions.add("who", "session", expires_at=clock() + 60),
        stores.session_clients.keep("who", expires_at=clock() + 90),
        stores.logout_outbox.queue.add("delivery"),
        verbs.count("ts:{who}:rl", 60),
    ]


def test_wherever_a_write_is_cut_every_key_has_an_end(tmp_path: Path) -> None:
    told = writes(Stores(None, prefix="ts"))  # type: ignore[arg-type]
    sent = b"".join(hiredis.pack_command(command) for command in told)  # type: ignore[arg-type]
    with redis_running(tmp_path) as (url, _), Redis.from_url(url) as redis:
        seen: set[bytes] = set()
        for cut in [*range(0, len(sent), STEP), len(sent)]:
            redis.flushall()
            tell(url.removeprefix("unix://"), sent[:cut])
            keys = list(redis.scan_iter())
            assert [key for key in keys if redis.pttl(key) == -1] == []
            seen.update(keys)
    assert len(seen) == 6


def tell(path: str, commands: bytes) -> None:
    """Send so much and hang up; Redis has done what arrived whole when it hangs up, too."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(commands)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass
