"""Whatever is written leaves Redis by itself: no key is without an end, at any moment, and none is left at last."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.driving.browser import Browser
from tests.driving.service import RunningService
from tests.identity_providers.conftest import fake as fake  # noqa: PLC0414 - a fixture
from tests.identity_providers.fake_provider import FakeProvider
from tests.store.table import STORES, find_kinds
from tests.store.watched_redis import LASTING, Watched, watched
from tests.store.whole_life import EVERYTHING, short_lived, shorten

pytestmark = pytest.mark.needs("redis-server")

GONE_WITHIN = 120
"""Seconds on the slowest machine; the longest lifetime here is four, and the dead client is notified twice."""
RUNS = 3
"""Of each flow, at most."""


@pytest.fixture
def config(
    config: dict[str, Any], fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    shorten(monkeypatch)
    return short_lived(config, fake)


@pytest.fixture
def redis(mortal_redis: tuple[str, Any], config: dict[str, Any]) -> Iterator[Watched]:
    config["store"] = {"url": mortal_redis[0]}
    with watched(mortal_redis[0]) as watching:
        yield watching


async def test_the_key_space_is_empty_in_the_end(
    redis: Watched, service: RunningService, browser: Browser, fake: FakeProvider
) -> None:
    living = asyncio.create_task(whole_life(service, browser, fake))
    deadline = time.monotonic() + GONE_WITHIN
    while not living.done() or redis.keys() != LASTING:
        assert redis.without_end() == set()
        assert time.monotonic() < deadline, redis.keys()
        await asyncio.sleep(0.05)
    await living
    assert redis.endless == []
    assert redis.seen == kinds()


async def whole_life(service: RunningService, browser: Browser, fake: FakeProvider) -> None:
    """Run every flow that writes, one after the other; again where a slow machine took longer than its tokens last."""
    for do in EVERYTHING:
        for again in range(RUNS):
            try:
                await do(service, browser, fake)
                break
            except AssertionError:
                if again == RUNS - 1:
                    raise
                browser.forget_cookies()


def kinds() -> set[str]:
    """Every kind of key that the service has, so that none is forgotten here."""
    lanes = {f"{STORES.webhook_outbox.queue.heads.name}{part}" for part in "blw"}
    unnamed = {"rl", "lf", "of", "fg", "lfp", "ofp", "keys"}
    return {kind.name for _, kind in find_kinds()} | lanes | unnamed
