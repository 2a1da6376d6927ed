"""Ten thousand uses of one thing leave a bounded number of keys, members and bytes in Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from service.clock import clock
from service.identity.sessions import Sessions
from service.identity.sign_in import SignIn
from service.model.authorization import Authorization, RefreshToken, new_family_key
from service.model.handle import digest, new_selector
from service.model.session import Session
from service.store.records import Index
from service.store.stores import DELIVERY_LIFETIME
from service.tokens.refresh_token import ActiveRefreshToken, begin_family, rotate, use_up
from tests.driving.service import RunningService

pytestmark = pytest.mark.needs("redis-server")

MANY = 10_000
ROOM = MANY - 500
KIB = 1024


@pytest.fixture
def redis(mortal_redis: tuple[str, Any], config: dict[str, Any]) -> Iterator[Redis]:
    config["store"] = {"url": mortal_redis[0]}
    with Redis.from_url(mortal_redis[0]) as redis:
        yield redis


def size(redis: Redis, key: str) -> int:
    """Bytes that a key takes, every member counted."""
    return int(redis.memory_usage(key, samples=0) or 0)


async def test_a_family_with_ten_thousand_rotations_is_one_token_in_the_end(
    redis: Redis, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.tokens.refresh_token.SPENT_FOR", 1)
    features, client = service.features, service.features.shared.registry.current.clients["web"]
    authorization = Authorization(
        id=new_selector(),
        client_id=client.client_id,
        scope=frozenset({"api1", "offline_access"}),
        subject="818727",
        family_key=new_family_key(frozenset({"offline_access"})),
        created_at=clock(),
    )
    stores = features.shared.stores
    current = begin_family(stores, authorization, client, {})
    assert current is not None
    await features.shared.kv.write(current.write)
    for _ in range(MANY):
        handle = current.handle
        (record,) = await features.shared.kv.read(
            stores.refresh_tokens.read(handle.selector, handle.digest)
        )
        assert isinstance(record, RefreshToken)
        token = ActiveRefreshToken(handle=handle, authorization=authorization, record=record)
        single_use = use_up(stores, token, client, now=clock())
        current = rotate(stores, token, client, {}, cnf=None, now=clock())
        await features.shared.kv.write(single_use.swap, current.write)
    await asyncio.sleep(1.1)
    left = [key for key in redis.scan_iter("ts:*:rt:*", count=MANY) if redis.exists(key)]
    assert len(left) == 1


async def test_a_person_with_ten_thousand_sessions_gets_no_more(
    redis: Redis, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.store.stores.MAX_SESSIONS", ROOM)
    sessions, now = service.features.shared.sessions, clock()
    await ten_thousand_sessions(sessions, now)
    listed = sessions.stores.subject_sessions.key(digest("818727"))
    assert size(redis, listed) < 2 * KIB * KIB
    who = SignIn(subject="818727", idp="local", amr=("pwd",), auth_time=now)
    while int(redis.zcard(listed)) > ROOM:
        await sessions.start(who, previous=None, user_agent="Mozilla/5.0")
    assert len(list(redis.scan_iter("ts:*:ss", count=MANY))) <= ROOM


async def ten_thousand_sessions(sessions: Sessions, now: int) -> None:
    """As they are after ten thousand sign-ins of one person, each a second after the other."""
    stores, owner = sessions.stores, digest("818727")
    for number in range(MANY):
        session = Session(
            id=new_selector(),
            cookie_digest=digest("cookie"),
            subject="818727",
            idp="local",
            amr=("pwd",),
            auth_time=now,
            started_at=now,
            ends_at=now + MANY + number,
            remember=False,
            user_agent="Mozilla/5.0",
        )
        await stores.kv.write(
            stores.sessions.put(session, session.id, ttl=MANY),
            stores.subject_sessions.add(owner, session.id, expires_at=session.ends_at),
        )


@pytest.mark.parametrize("name", ["delegated", "subject_authorizations", "subject_consents"])
async def test_no_index_takes_more_than_two_mebibytes(
    redis: Redis, service: RunningService, name: str
) -> None:
    stores, now = service.features.shared.stores, clock()
    index: Index = getattr(stores, name)
    for first in range(0, 2 * MANY, 100):
        counts = await stores.kv.write(
            *[
                index.add("s", digest(str(number)), expires_at=now + 3600)
                for number in range(first, first + 100)
            ]
        )
        for count in counts:
            surplus = await stores.find_surplus(index, "s", count=count)
            await stores.kv.write(*[index.remove("s", one) for one in surplus])
    assert int(redis.zcard(index.key("s"))) <= index.limit
    assert size(redis, index.key("s")) < 2 * KIB * KIB


async def test_delivery_that_was_not_made_for_a_day_leaves_the_queue(
    redis: Redis, service: RunningService
) -> None:
    queue = service.features.shared.stores.logout_outbox.queue
    old = [queue.add(f"old{number}", seconds=-DELIVERY_LIFETIME - 1) for number in range(MANY)]
    await service.features.shared.kv.write(*old)
    assert int(redis.zcard(queue.key)) == MANY
    await service.features.shared.kv.write(queue.add("new", seconds=60))
    assert redis.zrange(queue.key, 0, -1) == [b"new"]
