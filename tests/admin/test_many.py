"""A user with ten thousand sessions or grants does not delay others."""

from __future__ import annotations

import asyncio
import gc
from itertools import pairwise
from time import thread_time
from typing import Any

import pytest

from service.clock import clock
from service.model.authorization import Authorization
from service.model.handle import digest, new_selector
from service.model.session import Session
from service.tokens.liveness import begin
from tests.admin.conftest import ALICE, Admin
from tests.driving.service import RunningService

pytestmark = pytest.mark.usefixtures(
    "mortal_redis"
)  # a command of the embedded store takes its time in this process

LONGEST_TURN = 1
"""For so long other requests may wait, in the unit of `measure`."""
MANY = 10_000


async def sign_in_often(service: RunningService, count: int) -> None:
    """Give alice so many sessions."""
    shared, now = service.features.shared, clock()
    for _ in range(count // 100):
        writes = []
        for session in (_session(now) for _ in range(100)):
            stores = shared.stores
            owner, ends_at = digest(ALICE), session.ends_at
            writes.append(stores.sessions.put(session, session.id, ttl=3600))
            writes.append(stores.subject_sessions.add(owner, session.id, expires_at=ends_at))
        await shared.kv.write(*writes)


def _session(now: int) -> Session:
    return Session(
        id=new_selector(),
        cookie_digest="x",
        subject=ALICE,
        idp="local",
        amr=("pwd",),
        auth_time=now,
        started_at=now,
        ends_at=now + 3600,
        remember=False,
        user_agent="",
    )


async def grant_often(service: RunningService, count: int) -> None:
    """Give the client `web` so many grants of alice."""
    shared, now = service.features.shared, clock()
    for _ in range(count // 100):
        granted = [
            Authorization(
                id=new_selector(),
                client_id="web",
                scope=frozenset({"api1"}),
                subject=ALICE,
                idp="local",
                grant_type="authorization_code",
                created_at=now,
            )
            for _ in range(100)
        ]
        writes = [write for one in granted for write in begin(shared.stores, one, ttl=3600)]
        await shared.kv.write(*writes)


async def longest_turn(work: Any) -> float:
    """Return the most CPU time that this takes of a turn of the loop, in which nothing else runs, by `measure`.

    The collector is off: it would look at all that the tests before have left.
    """
    gc.disable()
    unit = measure()
    ticks = [thread_time()]
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.sleep(0)
        ticks.append(thread_time())
    unit = max(unit, measure())
    gc.enable()
    assert (await task).status in (200, 204)
    return max(later - before for before, later in pairwise(ticks)) / unit


def measure() -> float:
    """Return the CPU time of a work that takes 20 ms on a quiet machine, and more on one that is slow at present."""
    began = thread_time()
    texts = {number: f"<li>{number}</li>" for number in range(ROWS)}
    "".join(texts[number] for number in texts)
    return thread_time() - began


ROWS = 48_000


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"/admin/users/{ALICE}/sessions?limit=200"),
        ("DELETE", f"/admin/users/{ALICE}/sessions"),
    ],
)
async def test_ten_thousand_sessions_do_not_delay_others(
    admin: Admin, service: RunningService, method: str, path: str
) -> None:
    await sign_in_often(service, MANY)
    assert await longest_turn(admin(method, path)) < LONGEST_TURN
    left = await service.features.shared.sessions.find_all_of(ALICE)
    assert len(left) == (0 if method == "DELETE" else MANY)


@pytest.mark.parametrize("path", [f"/admin/users/{ALICE}/grants", "/admin/clients/web/grants"])
async def test_ten_thousand_grants_do_not_delay_others(
    admin: Admin, service: RunningService, path: str
) -> None:
    await grant_often(service, MANY)
    assert await longest_turn(admin("DELETE", path)) < LONGEST_TURN
    assert await service.features.shared.authorizations.find_all_of(ALICE) == ()


async def test_page_is_never_longer_than_asked_for(admin: Admin, service: RunningService) -> None:
    await sign_in_often(service, 500)
    page = await admin("GET", f"/admin/users/{ALICE}/sessions?limit=200")
    assert len(page["items"]) == 200
    assert page["next"]
