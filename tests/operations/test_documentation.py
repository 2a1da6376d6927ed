"""The docs name every audit event and every metric."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from service.events.event import Event, event_name
from service.observe.metrics import EVENTS
from tests.driving.service import RunningService

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("operations/metrics.md", "reference/audit-events.md")
ROWS = re.findall(
    r"^\| `(\w+)` \|", "".join((DOCS / page).read_text() for page in PAGES), re.MULTILINE
)


def test_every_event_that_the_service_emits_is_listed() -> None:
    assert set(EVENTS) == {kind for kind in Event.__subclasses__() if "service" in kind.__module__}


@pytest.mark.parametrize("kind", EVENTS, ids=event_name)
def test_labels_of_a_counter_are_members_of_its_event(kind: type[Event]) -> None:
    assert kind.counter is None or set(kind.counter.labels) <= set(kind.__struct_fields__)


async def test_no_metric_is_undocumented(service: RunningService) -> None:
    shown = (await service.get("/metrics")).body.decode()
    names = re.findall(r"^# TYPE (?:token_service_)?(\w+) ", shown, re.MULTILINE)
    assert set(names) <= set(ROWS)


def test_the_runbook_counts_keys_of_redis_by_their_kind() -> None:
    runbook = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text()
    (script,) = re.findall(r"sed -E\s+'([^']*)'", runbook)
    keys = "ts:keys\nts:{a-b_c:d}:fa\nts:{UfR3}:pk\nts:{UfR3}:n:ab\n"
    counted = subprocess.run(
        ["sed", "-E", script], input=keys, capture_output=True, check=True, text=True
    )
    assert counted.stdout.split() == ["keys", "fa", "pk", "n"]
