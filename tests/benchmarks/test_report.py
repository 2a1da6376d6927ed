"""Measurements are reported unchanged, in the document and by `make bench-check`."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.load import Sample
from benchmarks.measured import Measured
from benchmarks.report import DOCUMENT, STALLS, TIMES, updated
from benchmarks.round_trips import Asked
from benchmarks.servers import FLOOR, SERVICE
from benchmarks.table import Ratio, Table
from benchmarks.works import WORKS
from tests.benchmarks.conftest import REPOSITORY


def ratio(median: float, *, noise: float = 0.0) -> Ratio:
    return Ratio(median=median, spread=0.1, noise=noise, bar=0.6)


def row(median: float) -> dict[str, Any]:
    return {
        "work": "refresh",
        "to_floor": {"median": median, "spread": 0.1, "bar": 0.6},
        "to_peer": None,
        "req_per_cpu_second": {"service": 6000.0, "floor": 10_000.0},
        "p50_ms": {"service": 5.0},
        "p99_ms": {"service": 12.0},
        "round_trips": 2,
        "commands": "2 GET",
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    finding = {
        "what": "memory",
        "figure": 91.0,
        "unit": "MiB",
        "at_most": 90.0,
        "at_least": None,
        "met": False,
    }
    (tmp_path / "table.json").write_text(json.dumps({"works": [row(0.58)]}))
    for topic in (*TIMES, *STALLS):
        (tmp_path / f"{topic}.json").write_text(json.dumps([finding]))
    return tmp_path


def test_the_document_has_a_place_for_everything(folder: Path) -> None:
    document = updated((REPOSITORY / DOCUMENT).read_text(), folder)
    assert "| refresh | 0.58, **below** | 0.60 |" in document
    assert "| memory | 91.00 MiB | at most 90, **not met** |" in document
    assert "- refresh compared with the floor: 0.58 of 0.60" in document
    assert updated(document, folder) == document


def test_the_table_alone_leaves_the_rest_of_the_document(folder: Path) -> None:
    document = updated((REPOSITORY / DOCUMENT).read_text(), folder)
    (folder / "table.json").write_text(json.dumps({"works": [row(0.70)]}))
    for topic in (*TIMES, *STALLS):
        (folder / f"{topic}.json").unlink()
    after = updated(document, folder)
    assert "| refresh | 0.70 | 0.60 |" in after
    assert "| memory | 91.00 MiB | at most 90, **not met** |" in after


def test_instructions_are_shown_where_they_were_counted(folder: Path) -> None:
    kinds = {"service": 943_586.0, "floor": 654_067.0, "to the floor": 0.693}
    told = [{"what": f"refresh: {kind}", "figure": figure} for kind, figure in kinds.items()]
    (folder / "instructions.json").write_text(json.dumps(told))
    document = updated((REPOSITORY / DOCUMENT).read_text(), folder)
    assert "| refresh | 943,586 | 654,067 | 0.69 |" in document


def test_a_bar_is_missed_by_more_than_the_noise_only() -> None:
    assert ratio(0.57, noise=0.02).missed
    assert not ratio(0.59, noise=0.02).missed
    assert not ratio(0.61).missed


@pytest.mark.parametrize(("requests", "missed"), [(70, True), (90, False)])
def test_a_work_may_have_to_reach_a_part_of_another_one(requests: int, *, missed: bool) -> None:
    compared = {"introspect a reference token", "gateway check, reference token"}
    works = [work for work in WORKS if work.name in compared]
    table = Table(works=works, rounds=1, asked=defaultdict(Asked))
    for work in works:
        served = requests if work.beside else 100
        sample = Sample(requests=served, seconds=1, failed=0, p50=0, p99=0)
        for server in (SERVICE, FLOOR):
            table.add(work, server, Measured(sample, 1))
    assert bool(table.missed()) is missed
