"""`explain` names the rule that decides an exchange, with its file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner

from service.cli.program import program
from tests.cli.conftest import Command
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService
from tests.token_exchange.exchanging import EXCHANGE, TYPE, exchange

RULE = {"scopes": ["api1", "api2"], "audiences": ["api1", "api2"]}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The second rule is for api1 and api2; api1 may begin transactions, too."""
    usual = client_in(config, "api1")
    usual["allowed_grant_types"] = [EXCHANGE]
    secret = {"client_secrets": [{"sha256": hashed("api2")}]}
    config["clients"].append(usual | secret | {"client_id": "api2"})
    config["token_exchange"] = [RULE | {"clients": ["web"]}, RULE | {"clients": ["api1", "api2"]}]
    config["trust_domains"] = [{"name": "shop", "clients": ["api1"], "scopes": ["pay"]}]
    return config


@pytest.fixture
def file(tmp_path: Path, config: dict[str, Any]) -> Path:
    file = tmp_path / "config.yaml"
    config["issuer"] = "http://localhost:8080"
    file.write_text(json.dumps(config, indent=1))
    return file


def explain(file: Path, **parameters: str) -> str:
    sent = {
        "grant_type": EXCHANGE,
        "client_id": "api1",
        "subject_token_type": TYPE + "access_token",
    }
    url = f"http://localhost:8080/connect/token?{urlencode(sent | parameters)}"
    result = CliRunner().invoke(program, ["explain", url], env={"SERVICE_CONFIG": str(file)})
    assert result.exit_code == 0, result.output
    return result.output


def line_of_rule(file: Path, number: int) -> int:
    """The line at which a rule begins."""
    rules = json.loads(file.read_text())["token_exchange"]
    head = file.read_text().splitlines()
    begin = next(at for at, line in enumerate(head) if '"token_exchange"' in line) + 2
    return begin + sum(len(json.dumps(rule, indent=1).splitlines()) for rule in rules[:number])


def test_rules_are_named_until_one_decides(file: Path) -> None:
    told = explain(file, scope="api2")
    assert f"config.yaml:{line_of_rule(file, 0)}" in told
    assert "does not fit: clients" in told
    assert f"config.yaml:{line_of_rule(file, 1)}" in told
    assert "fits, and decides" in told
    assert "allowed" in told


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"scope": "api1.read"}, "invalid_scope"),
        ({"audience": "nothing"}, "invalid_target"),
        ({"requested_token_type": TYPE + "id_token"}, "no rule fits"),
        ({"client_id": "gateway"}, "unauthorized_client"),
        ({"client_id": "nobody"}, "unknown or disabled"),
        ({"subject_token_type": "x"}, "invalid_request"),
        ({"requested_token_type": TYPE + "txn_token"}, "trust domain"),
    ],
    ids=str,
)
def test_a_refusal_is_explained(file: Path, parameters: dict[str, str], expected: str) -> None:
    assert expected in explain(file, **parameters)


async def test_actors_and_transactions_of_a_token_are_explained(
    service: RunningService, command: Command
) -> None:
    source = (await service.user_token())["access_token"]
    second = (await exchange(service, source))["access_token"]
    third = (await exchange(service, second, "api2", scope="api1"))["access_token"]
    told = await command("explain", third)
    assert "acting" in told.output
    assert "api2, before it api1" in told.output
    form = {"audience": "shop", "scope": "pay", "requested_token_type": "txn_token"}
    made = await exchange(service, source, **form)
    told = await command("explain", made["access_token"])
    assert "transaction token (JWT)" in told.output
    assert "asked for by api1" in told.output
