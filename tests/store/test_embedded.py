"""The embedded store does what a Redis does."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from service.store import verbs
from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.opening import open_store


@pytest.fixture
async def kv() -> AsyncIterator[KeyValue]:
    store = open_store("memory://", timeout=30)
    yield store
    await store.close()


async def test_all_keys_are_found_whatever_redis_looks_at_at_once(kv: KeyValue) -> None:
    keys = {f"ts:walk-{number}" for number in range(2500)}
    await kv.write(*[("SET", key, b"1") for key in keys], ("SET", "ts:other", b"1"))
    assert {key async for key in kv.find_keys("ts:walk-*")} == keys


async def test_what_it_refuses_is_trouble_with_the_store(kv: KeyValue) -> None:
    await kv.write(("SET", "ts:text", b"x"))
    with pytest.raises(StoreUnavailable):
        await kv.write(verbs.count("ts:text", 60))
