"""The cache returns what was stored, never more values than its size, and none after its time."""

from __future__ import annotations

import time_machine
from hypothesis import given
from hypothesis import strategies as st

from service.caching import BoundedCache

SIZE = 3

puts = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(), st.integers(1, 9)), min_size=1)


@given(puts)
def test_the_values_that_were_stored_last_are_kept(stored: list[tuple[str, int, int]]) -> None:
    cache = BoundedCache[str, int](SIZE)
    for key, value, _ in stored:
        cache.put(key, value)
    latest = {key: value for key, value, _ in stored}
    order = list(dict.fromkeys(key for key, _, _ in reversed(stored)))
    for place, key in enumerate(order):
        assert cache.get(key) == (latest[key] if place < SIZE else None)


@given(puts)
def test_a_value_is_returned_until_its_time_is_over(stored: list[tuple[str, int, int]]) -> None:
    cache = BoundedCache[str, int](10)
    expected: dict[str, tuple[int, int]] = {}
    with time_machine.travel(0, tick=False) as traveller:
        for now, (key, value, seconds) in enumerate(stored):
            cache.put(key, value, seconds=seconds)
            expected[key] = value, now + seconds
            traveller.shift(1)
            for known, (its_value, until) in expected.items():
                assert cache.get(known) == (its_value if now + 1 < until else None)
                assert cache.get_stale(known) == its_value


def test_a_value_that_is_stored_again_is_the_last_to_make_room() -> None:
    cache = BoundedCache[str, int](2)
    for key in "aba":
        cache.put(key, 1)
    cache.put("c", 1)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 1)


def test_a_cleared_cache_has_no_value() -> None:
    cache = BoundedCache[str, int](2)
    cache.put("a", 1)
    cache.clear()
    assert cache.get_stale("a") is None
