"""Targets of ID-JAGs in config.yaml: what `check` says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.config.problem import Problem
from service.start.load import inspect
from tests.driving.registry import hashed
from tests.id_jag.issuing import OTHER
from tests.token_exchange.exchanging import EXCHANGE

PATH = "token_exchange[0]"
RULE = {
    "clients": ["web"],
    "subject_token_types": ["id_token"],
    "requested_token_types": ["id_jag"],
}
TARGET = {"issuer": OTHER, "scopes": ["tools.read"], "client_ids": {"web": "over-there"}}

Problems = Callable[..., Mapping[str, Problem]]


@pytest.fixture
def problems(tmp_path: Path) -> Problems:
    def problems(rule: dict[str, Any]) -> Mapping[str, Problem]:
        file = tmp_path / "config.yaml"
        clients = [
            {
                "client_id": name,
                "client_secrets": [{"sha256": hashed(name)}],
                "allowed_grant_types": ["authorization_code", EXCHANGE],
                "allowed_scopes": ["openid"],
                "redirect_uris": ["https://app/cb"],
            }
            for name in ("web", "other")
        ]
        written = {
            "issuer": "https://auth.example.com",
            "clients": clients,
            "token_exchange": [RULE | rule, RULE | {"clients": ["other"], "targets": [TARGET]}],
        }
        file.write_text(yaml.dump(written, sort_keys=False))
        found = inspect(file, {})
        return {each.path: each for each in found if "[1]" not in each.path.split(".")[0]}

    return problems


def test_a_sound_rule_has_no_problem(problems: Problems) -> None:
    assert problems({"targets": [TARGET]}) == {}


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "no targets": ({}, "targets", "without targets"),
    "no token to issue it for": (
        {"targets": [TARGET], "subject_token_types": ["access_token"]},
        "subject_token_types",
        "id_token or a refresh_token",
    ),
    "itself as target": (
        {"targets": [TARGET | {"issuer": "https://auth.example.com"}]},
        "targets[0].issuer",
        "this service itself",
    ),
    "one target twice": ({"targets": [TARGET, {**TARGET}]}, "targets[1].issuer", "listed twice"),
    "a target that is no URL": ({"targets": [{"issuer": "other"}]}, "targets[0].issuer", "URL"),
    "a target without issuer": ({"targets": [{}]}, "targets[0].issuer", "required"),
    "an unknown client": (
        {"targets": [TARGET | {"client_ids": {"wep": "x"}}]},
        "targets[0].client_ids.wep",
        "there is no client wep",
    ),
    "a malformed scope": (
        {"targets": [TARGET | {"scopes": ["a b"]}]},
        "targets[0].scopes[0]",
        "one scope value",
    ),
}


@pytest.mark.parametrize(("rule", "key", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_error_is(problems: Problems, rule: dict[str, Any], key: str, message: str) -> None:
    found = problems(rule)
    problem = found.get(f"{PATH}.{key}")
    assert problem is not None, list(found)
    assert message in f"{problem.message} {problem.hint}"
    assert problem.severity == "error"


UNWISE: dict[str, tuple[dict[str, Any], str]] = {
    "targets without effect": (
        {"targets": [TARGET], "requested_token_types": ["id_token"]},
        "targets",
    ),
    "an actor who is never named": ({"targets": [TARGET], "actor": "required"}, "actor"),
    "a client that the rule is not for": (
        {"targets": [TARGET | {"client_ids": {"other": "x"}}]},
        "targets[0].client_ids.other",
    ),
}


@pytest.mark.parametrize(("rule", "key"), UNWISE.values(), ids=UNWISE.keys())
def test_a_warning_is(problems: Problems, rule: dict[str, Any], key: str) -> None:
    found = problems(rule)
    assert f"{PATH}.{key}" in found, list(found)
    assert found[f"{PATH}.{key}"].severity == "warning"
