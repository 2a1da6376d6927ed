"""The benchmark measures; how fast anything is, no test says (docs/performance.md)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.needs("wrk", "redis-server", "taskset"),
    pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="it pins to two CPUs"),
]
Measured = Callable[..., str]
ROUND_TRIPS = {
    "introspect a reference token: 2 GET": 1,
    "client_credentials, reference token: SET": 1,
    "client_credentials, ES256: nothing": 0,
    "discovery: nothing": 0,
}


def test_the_table_is_printed_and_written(measured: Measured, tmp_path: Path) -> None:
    assert "introspect a reference token" in measured("--only", "introspect a ref")
    (row,) = json.loads((tmp_path / "table.json").read_text())["works"]
    assert (row["failed"], row["round_trips"], row["commands"]) == (0, 1, "2 GET")
    assert row["req_per_second"].keys() == {"service", "floor"}
    assert (tmp_path / "floor.svg").read_text().startswith("<svg ")


def test_no_work_asks_redis_more_often_than_it_may(measured: Measured, tmp_path: Path) -> None:
    measured("round-trips", "--check")
    found = json.loads((tmp_path / "round-trips.json").read_text())
    counted = {one["what"]: one["figure"] for one in found}
    assert counted.items() >= ROUND_TRIPS.items()
    most = ["authorize", "logout", "revocation", "authorize with PAR", "login", "consent"]
    assert sorted(counted.values())[-len(most) :] == [2, 3, 3, 4, 4, 5]


def test_kit_for_apis_is_compared_with_others(measured: Measured, tmp_path: Path) -> None:
    measured("api-kit")
    found = json.loads((tmp_path / "api-kit.json").read_text())
    assert sum(one["at_least"] is not None for one in found) == 5


def test_a_reference_token_takes_what_it_may_of_redis(measured: Measured, tmp_path: Path) -> None:
    measured("capacity", "--only", "reference token", "--check")
    figures = json.loads((tmp_path / "capacity.json").read_text())
    assert [one["what"] for one in figures] == ["reference token", "reference token: in one GiB"]
