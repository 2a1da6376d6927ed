"""The commands of docs/runbook.md exist and work, and its names are those of log, metrics and dashboard."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner

from service.cli.program import program
from service.events.event import event_name
from service.observe import metrics
from tests.driving.process import REPOSITORY
from tests.driving.program import Program, eventually, program_running
from tests.driving.redis_servers import TcpRedis

PAGE = (REPOSITORY / "docs/runbook.md").read_text()
OWN_COMMANDS = re.findall(r"`(?:logs \| )?(?:ts|token-service) ([^`]+)`", PAGE)
SOURCES = "\n".join(path.read_text() for path in (REPOSITORY / "service").rglob("*.py"))
EVENTS = set(map(event_name, metrics.EVENTS))
DASHBOARD = json.loads((REPOSITORY / "k8s/components/monitoring/dashboard.json").read_text())
KEY, OTHER_KEY = (f"{letter * 42}A" for letter in "AB")
PERSON = {
    "grant_type": "password",
    "username": "alice",
    "password": "alice",
    "scope": "openid offline_access",
}
FRONTEND = ("frontend", "frontend-secret")


@pytest.mark.parametrize("command", OWN_COMMANDS)
def test_a_command_of_the_runbook_is_there_with_its_options(command: str) -> None:
    told = CliRunner().invoke(program, [*shlex.split(command), "--help"])
    assert told.exit_code == 0, told.output
    assert OWN_COMMANDS


@pytest.mark.parametrize("searched", re.findall(r"`logs \| grep ([^-`'\"]+)`", PAGE))
def test_what_the_runbook_searches_the_log_for_is_an_event(searched: str) -> None:
    assert searched in EVENTS


@pytest.mark.parametrize(
    "line", ["redis does not answer", "redis refuses", "users.source does not answer"]
)
def test_a_line_of_the_log_that_the_runbook_names_is_written(line: str) -> None:
    assert f"`{line}`" in PAGE
    assert f'"{line}"' in SOURCES


def test_panels_that_the_runbook_names_are_on_the_dashboard() -> None:
    named = set(re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", re.sub(r"`[^`]*`", "", PAGE)))
    assert named
    assert named <= set(_titles(DASHBOARD))


def _titles(content: object) -> Iterator[str]:
    if isinstance(content, dict):
        if "title" in content:
            yield str(content["title"])
        content = list(content.values())
    if isinstance(content, list):
        for each in content:
            yield from _titles(each)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[TcpRedis]:
    """One of the test's own."""
    with TcpRedis(tmp_path / "redis") as running:
        yield running


def configured(redis: TcpRedis, folder: Path, key: str) -> Path:
    """The demonstration on that Redis, with this encryption key."""
    text = (REPOSITORY / "config.yaml").read_text().replace("memory://", redis.url)
    file = folder / f"{key}.yaml"
    file.write_text(text.replace("\nsigning:", f"\nsigning:\n  encryption_key: {key}"))
    return file


def wait_until_ready(started: Program) -> str:
    url = started.url()
    eventually(lambda: httpx2.get(f"{url}/health/ready").status_code == 200)
    return url


@pytest.mark.needs("redis-server")
@pytest.mark.parametrize("command", [each for each in OWN_COMMANDS if "SUBJECT" in each])
def test_a_command_against_stolen_refresh_tokens_ends_those_of_a_password_grant(
    redis: TcpRedis, tmp_path: Path, command: str
) -> None:
    file = configured(redis, tmp_path, KEY)
    with program_running(file, (), {}) as running:
        token_endpoint = f"{wait_until_ready(running)}/connect/token"
        issued = httpx2.post(token_endpoint, auth=FRONTEND, data=PERSON).json()
        stolen = {"grant_type": "refresh_token", "refresh_token": issued["refresh_token"]}
        words = command.replace("SUBJECT", "818727").replace("CLIENT", "frontend")
        done = CliRunner().invoke(program, [*shlex.split(words), "--config", str(file)])
        assert done.exit_code == 0, done.output
        answer = httpx2.post(token_endpoint, auth=FRONTEND, data=stolen)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


@pytest.mark.needs("redis-server")
def test_new_keys_are_made_when_those_of_a_lost_encryption_key_are_deleted(
    redis: TcpRedis, tmp_path: Path
) -> None:
    with program_running(configured(redis, tmp_path, KEY), (), {}) as running:
        wait_until_ready(running)
    with program_running(configured(redis, tmp_path, OTHER_KEY), (), {}) as running:
        url = running.url()
        ready = httpx2.get(f"{url}/health/ready")
        assert ready.status_code == 503
        assert ready.json()["reasons"][0].startswith("keys: none to sign with")
        redis.tell("DEL", "ts:keys")
        eventually(lambda: httpx2.get(f"{url}/health/ready").status_code == 200)
