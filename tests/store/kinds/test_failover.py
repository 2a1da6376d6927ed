"""The service answers 503 until a replica has taken over, and then continues by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from redis.crc import key_slot

from service.store.opening import open_store
from service.store.verbs import Read
from tests.ciba.consumption import (
    NOTIFICATION_TOKEN,
    Device,
    Listener,
    ciba_client,
    listener,
    open_request,
)
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.program import eventually
from tests.driving.redis_servers import (
    IMPATIENCE,
    SLOTS,
    RedisCluster,
    SentinelSet,
    cluster,
    sentinel_set,
)
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = [pytest.mark.needs("redis-server"), pytest.mark.rfc("9110#15.6.4")]


@pytest.fixture(params=["Sentinel", "Cluster"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SentinelSet | RedisCluster]:
    """With a replica for each master, to be harmed."""
    if request.param == "Sentinel":
        with sentinel_set(tmp_path) as started:
            yield started
    else:
        with cluster(tmp_path, replicas=1) as whole:
            yield whole


@pytest.fixture
def own_store(store: SentinelSet | RedisCluster) -> str:
    return store.url


@pytest.fixture
async def told() -> AsyncIterator[Listener]:
    """The site of a client that gets pings."""
    async with listener() as told:
        yield told


@pytest.fixture
def config(config: dict[str, Any], own_store: str, told: Listener) -> dict[str, Any]:
    config["store"] = {"url": own_store, "timeout": "3s"}
    config["clients"].append(
        ciba_client(
            "till",
            client_in(config, "web")["client_secrets"],
            backchannel_token_delivery_mode="ping",
            backchannel_client_notification_endpoint=told.url,
        )
    )
    return config


async def until_all_is_well(service: RunningService) -> int:
    """Ask until ten in a row succeed; how many did not, each for an honest reason."""
    in_a_row = refused = 0
    async with asyncio.timeout(120):
        while in_a_row < 10:
            answer = await service.user_token("opaque")
            if answer.status == 200:
                in_a_row += 1
                continue
            assert answer.refusal == (503, "temporarily_unavailable")
            assert int(answer.headers["Retry-After"]) > 0
            in_a_row, refused = 0, refused + 1
            await asyncio.sleep(0.05)
    return refused


def lose(store: SentinelSet | RedisCluster, *, how: str) -> None:
    """Take a master away, when its replica has all that it has; only from then on is one that is silent replaced."""
    store.be_patient(IMPATIENCE)
    master = store.master if isinstance(store, SentinelSet) else store.masters[0]
    _, written, _ = master.tell("ROLE")
    eventually(lambda: store.replicas[0].tell("ROLE")[4] >= written)
    if how == "killed":
        master.kill()
    else:
        master.freeze()


@pytest.mark.parametrize("how", ["killed", "frozen"])
async def test_the_service_goes_on_without_a_restart(
    app: ClientApp, store: SentinelSet | RedisCluster, how: str
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    lose(store, how=how)
    assert await until_all_is_well(app.service) > 0
    assert (await app.refresh(tokens["refresh_token"])).status == 200
    assert "code" in (await app.authorize(prompt="none")).parameters


@pytest.mark.parametrize("store", ["Cluster"], indirect=True)
async def test_servers_that_stand_still_do_not_keep_a_new_process_from_the_one_that_answers(
    store: RedisCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.store.engine.cluster.PATIENCE", 60)
    only, *others = store.servers
    # Otherwise a slow machine gives it time to see that it is alone, and to refuse as it should.
    only.tell("CONFIG", "SET", "cluster-node-timeout", 600_000)
    key = next(key for key in map(str, count()) if key_slot(key.encode()) < SLOTS // 3)
    for each in others:
        each.freeze()
    for _ in range(5):
        kv = open_store(store.url, timeout=30)
        assert await kv.read(Read(key, bytes)) == (None,)
        await kv.close()


@pytest.mark.parametrize("store", ["Sentinel"], indirect=True)
async def test_a_planned_change_of_masters_costs_next_to_nothing(
    service: RunningService, store: SentinelSet
) -> None:
    await service.user_token("opaque")
    await asyncio.to_thread(store.fail_over)
    assert await until_all_is_well(service) < 20


@pytest.mark.rfc("ciba#10.2", "ciba#11")
async def test_a_user_answers_a_request_that_was_made_before_the_failover(
    service: RunningService, browser: Browser, store: SentinelSet | RedisCluster, told: Listener
) -> None:
    till = Device(service)
    auth_req_id = await till.begin(client_notification_token=NOTIFICATION_TOKEN)
    page = await open_request(browser, auth_req_id)
    lose(store, how="killed")
    assert await until_all_is_well(service) > 0
    assert (await till.poll(auth_req_id)).error == "authorization_pending"
    await browser.submit(page, action="allow")
    assert await told.ping() == {"auth_req_id": auth_req_id}
    answers = await asyncio.gather(*[till.poll(auth_req_id) for _ in range(5)])
    assert sorted(each.status for each in answers) == [200, 400, 400, 400, 400]
