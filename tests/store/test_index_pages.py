"""A page of an index begins behind any member, also among many that expire at the same time, and where that member is gone."""

from __future__ import annotations

from typing import cast

import pytest

from service.clock import clock
from service.store.records import Index, Member, read_page
from tests.driving.service import RunningService

INDEX = Index("ts", "zz", 10_000)
SAME = 500


@pytest.fixture
def names() -> list[str]:
    return [f"m{at:03}" for at in range(SAME)]


async def all_pages(
    service: RunningService, count: int, *, forget: bool = False
) -> list[list[str]]:
    """The names on each page; those that were shown are removed before the next one."""
    kv, after, found = service.features.shared.kv, None, list[list[str]]()
    while True:
        (answer,) = await kv.write(INDEX.page("pages", after, count=count))
        page = read_page(cast("list[bytes]", answer))
        if not page:
            return found
        found.append([member.name for member in page])
        after = page[-1]
        if forget:
            await kv.write(*[INDEX.remove("pages", one.name) for one in page])


@pytest.mark.parametrize("forget", [False, True], ids=["kept", "removed"])
async def test_members_that_expire_together_are_each_on_one_page(
    service: RunningService, names: list[str], forget: bool
) -> None:
    kv, at = service.features.shared.kv, clock() + 600
    await kv.write(*[INDEX.add("pages", name, expires_at=at) for name in names])
    found = await all_pages(service, 60, forget=forget)
    assert [len(page) for page in found] == [60] * 8 + [20]
    assert [name for page in found for name in page] == names[::-1]


async def test_members_that_expire_last_come_first(service: RunningService) -> None:
    kv, at = service.features.shared.kv, clock() + 600
    times = {"a": 1, "b": 3, "c": 2, "d": 3}
    await kv.write(*[INDEX.add("pages", name, expires_at=at + of) for name, of in times.items()])
    assert await all_pages(service, 1) == [["d"], ["b"], ["c"], ["a"]]


async def test_expired_members_are_not_shown(service: RunningService) -> None:
    kv = service.features.shared.kv
    await kv.write(("ZADD", INDEX.key("pages"), clock() - 5, "old", clock() + 5, "new"))
    (answer,) = await kv.write(INDEX.page("pages", None, count=5))
    assert [one.name for one in read_page(answer)] == ["new"]
    (answer,) = await kv.write(INDEX.page("pages", Member(clock() + 5, "new"), count=5))
    assert read_page(answer) == []
