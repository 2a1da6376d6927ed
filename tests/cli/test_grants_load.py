"""`grants load` takes refresh tokens of IdentityServer over, and says which it has not taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.driving.service import RunningService
from tests.takeover.persisted import ALICE, OLD_HANDLE, data_v4, row
from tests.takeover.test_grants_load import NOT_TAKEN, SCOPE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "PersistedGrants.json"


def write(file: Path, content: Any) -> None:
    file.write_text(content if isinstance(content, str) else json.dumps(content))


async def explained(command: Command) -> str:
    facts = dict(
        line.split(maxsplit=1)
        for line in (await command("explain", OLD_HANDLE)).stdout.splitlines()
    )
    assert facts["kind"] == "refresh token of another server"
    return facts["state"]


async def test_loaded_tokens_are_listed_and_used(
    command: Command, service: RunningService, file: Path
) -> None:
    others = [row(f"handle {at}", data_v4(SCOPE)) for at in range(120)]
    write(file, [row(OLD_HANDLE, data_v4(SCOPE)), *others])
    before = await command("explain", OLD_HANDLE)
    assert "none that this service makes" in before.stdout
    for said in ("taken: 121; known: 0; ended: 0\n", "taken: 0; known: 121; ended: 0\n"):
        result = await command("grants", "load", str(file))
        assert (result.exit_code, result.stdout) == (0, said)
        assert OLD_HANDLE not in result.output
    listed = await command("grants", "list", "--session", "OLD-SESSION", "--format", "json")
    assert {one["subject"] for one in json.loads(listed.stdout)} == {ALICE}
    form = {"grant_type": "refresh_token", "refresh_token": OLD_HANDLE}
    assert await explained(command) == "active"
    assert (await service.token("frontend", **form)).status == 200
    assert (await explained(command)).startswith("inactive: it was used")
    revoked = await command("grants", "revoke", "--session", "OLD-SESSION")
    assert revoked.stdout == "grants revoked: 121\n"
    form["refresh_token"] = "handle 7"
    assert (await service.token("frontend", **form)).refusal == (400, "invalid_grant")


async def test_what_was_not_taken_is_said_with_the_reason_and_a_code_of_its_own(
    command: Command, file: Path
) -> None:
    protected, _ = NOT_TAKEN["protected data"]
    write(file, [row("used", data_v4(SCOPE), ConsumedTime="2026-01-01"), protected, protected])
    result = await command("grants", "load", str(file))
    assert result.exit_code == 4
    assert result.stdout.splitlines() == [
        "taken: 0; known: 0; ended: 1",
        "not taken: 2, the first at [1]: it is encrypted by the data protection keys of that server",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        ("3", "neither an object nor a list"),
        ('[{"Key": "a", "Key": "b"}]', "there twice"),
        ("[" * 100, "nested more than 64"),
    ],
)
async def test_file_that_cannot_be_read_is_an_error(
    command: Command, file: Path, content: str | None, said: str
) -> None:
    if content is not None:
        write(file, content)
    result = await command("grants", "load", str(file))
    assert result.exit_code == 1
    assert said in result.stderr
    assert "loaded until there: 0" in result.stderr


async def test_rows_before_the_place_that_cannot_be_read_are_loaded(
    command: Command, file: Path
) -> None:
    rows = json.dumps([row(f"handle {at}", data_v4(SCOPE)) for at in range(60)])
    write(file, rows[:-1] + ", {")
    result = await command("grants", "load", str(file))
    assert result.exit_code == 1
    assert "loaded until there: 50" in result.stderr
    write(file, rows)
    assert (await command("grants", "load", str(file))).stdout == "taken: 10; known: 50; ended: 0\n"
