"""The examples and recipes of docs/audit.md name events and members that exist, and their JSON can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from service.events.event import PERSONAL, event_name, find_kinds
from service.start.load import inspect
from tests.driving.process import REPOSITORY

TEXT = (REPOSITORY / "docs/audit.md").read_text()
KINDS = {event_name(kind): kind for kind in find_kinds()}
HEAD = {"timestamp", "level", "logger", "event", "request_id"}
PLAIN = frozenset(
    [
        "action",
        "active",
        "actor",
        "actor_client_id",
        "actor_subject",
        "alg",
        "allowed",
        "amr",
        "api",
        "attempts",
        "audience",
        "auth_req_ref",
        "authorization_details_types",
        "authorization_id",
        "caller",
        "cause",
        "change",
        "claims",
        "client_id",
        "consents",
        "count",
        "endpoint",
        "error",
        "generation",
        "grant_type",
        "grants",
        "idp",
        "issuer",
        "kid",
        "kind",
        "method",
        "need_restart",
        "parameter",
        "predecessor",
        "provider",
        "reason",
        "refreshable",
        "remembered",
        "requested_token_type",
        "requests",
        "response_type",
        "result",
        "rule",
        "scheme",
        "scope",
        "seconds",
        "session_id",
        "sessions",
        "sign_from",
        "subject",
        "target",
        "token_kind",
        "trust_domain",
        "txn",
        "workloads",
        "writes",
    ]
)
"""Members that every webhook gets: none holds a name or an address of a person."""


def blocks(language: str) -> Iterator[str]:
    """Return the examples in a language."""
    return iter(re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL))


def test_each_example_of_json_can_be_read() -> None:
    assert [json.loads(one) for one in blocks("json")]


def test_line_of_the_log_has_the_members_of_its_event() -> None:
    line = json.loads(next(blocks("json")))
    assert line.keys() - HEAD == set(KINDS[line["event"]].__struct_fields__)


def test_cloud_event_has_the_members_of_its_event() -> None:
    (request,) = blocks("http")
    event = json.loads(request.partition("\n\n")[2])
    assert set(event["data"]) == set(KINDS[event["type"]].__struct_fields__) - PERSONAL


def test_recipes_name_events_that_exist() -> None:
    named = re.findall(r"""event(?:"?[=:] ?"?)(\w+)""", "".join([*blocks("logql"), *blocks("spl")]))
    named += re.findall(r'"event": "(\w+)"', "".join(list(blocks("json"))[2:]))
    listed = re.findall(r"event IN \(([\w, ]+)\)", TEXT)
    named += [name for names in listed for name in names.split(", ")]
    assert len(named) >= 5
    assert set(named) <= KINDS.keys()


def test_example_of_webhooks_passes_check(tmp_path: Path) -> None:
    example = yaml.safe_load(next(blocks("yaml")))
    (webhook,) = example["events"]["webhooks"]
    webhook["secrets"] = ["whsec_" + 32 * "A"]
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps({"issuer": "https://id.example.com", **example}))
    found = [one for one in inspect(file, {}) if one.path.startswith("events")]
    assert {one.severity for one in found} <= {"warning"}


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.webhooks != "never"])
def test_each_member_is_known_to_be_personal_or_not(kind: str) -> None:
    """A new member belongs into PERSONAL (events/event.py) if it may have a name or address of a person, else into PLAIN here."""
    assert set(KINDS[kind].__struct_fields__) <= PERSONAL | PLAIN
