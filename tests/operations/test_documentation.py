"""docs/operations names every audit event with its members, and every metric with its labels."""

from __future__ import annotations

import inspect
import re
import subprocess
from pathlib import Path

import msgspec
import pytest

from service.model import ciba_events, events, factor_events
from service.observe.event_log import WARNINGS, event_name
from service.observe.metrics import COUNTED
from tests.driving.service import RunningService


def members_of(kind: type[object]) -> tuple[str, ...]:
    """Return the names of an event's members."""
    return kind.__struct_fields__ if issubclass(kind, msgspec.Struct) else ()


PAGES = Path(__file__).parents[2] / "docs/operations"
OPERATIONS = "".join((PAGES / name).read_text() for name in ("logs.md", "metrics.md"))
ROWS = re.findall(r"^\| `(\w+)` \|([^|]*)\|", OPERATIONS, re.MULTILINE)
DOCUMENTED = {name: set(re.findall(r"`(\w+)`", members)) for name, members in ROWS}
EVENTS = [
    kind
    for module in (events, ciba_events, factor_events)
    for _, kind in inspect.getmembers(module, inspect.isclass)
    if members_of(kind)
]


@pytest.mark.parametrize("kind", EVENTS, ids=event_name)
def test_an_event_is_documented_with_its_members(kind: type[object]) -> None:
    assert DOCUMENTED[event_name(kind)] == set(members_of(kind))


def test_the_events_that_are_warnings_are_documented() -> None:
    (listed,) = re.findall(r"^Warnings are ([^.]*)\.", OPERATIONS, re.MULTILINE)
    assert re.findall(r"`(\w+)`", listed) == sorted(map(event_name, WARNINGS))


@pytest.mark.parametrize("counted", COUNTED.values(), ids=lambda counted: counted[0])
def test_a_counter_is_documented_with_its_labels(counted: tuple[str, ...]) -> None:
    name, _, *labels = counted
    assert DOCUMENTED[f"{name}_total"] == set(labels)


async def test_no_metric_is_undocumented(service: RunningService) -> None:
    shown = (await service.get("/metrics")).body.decode()
    names = re.findall(r"^# TYPE (?:token_service_)?(\w+) ", shown, re.MULTILINE)
    assert set(names) <= DOCUMENTED.keys()


def test_the_runbook_counts_keys_of_redis_by_their_kind() -> None:
    runbook = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text()
    (script,) = re.findall(r"sed -E\s+'([^']*)'", runbook)
    keys = "ts:keys\nts:{a-b_c:d}:fa\nts:{UfR3}:pk\nts:{UfR3}:n:ab\n"
    counted = subprocess.run(
        ["sed", "-E", script], input=keys, capture_output=True, check=True, text=True
    )
    assert counted.stdout.split() == ["keys", "fa", "pk", "n"]
