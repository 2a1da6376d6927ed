"""The command `users` asks the directory, and says what cannot be done there."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Command
from tests.ldap.people import ALICE


async def test_user_of_the_directory_is_shown(command: Command) -> None:
    for person in (("--username", "ALICE"), ("--subject", ALICE)):
        shown = json.loads((await command("users", "show", *person, "--format", "json")).stdout)
        assert (shown["sub"], shown["username"], shown["enabled"]) == (ALICE, "alice", True)
        assert shown["claims"]["email"] == "alice@example.com"


@pytest.mark.parametrize("arguments", [("list",), ("disable", "--username", "alice")])
async def test_what_the_directory_keeps_to_itself_is_said(
    command: Command, arguments: tuple[str, ...]
) -> None:
    result = await command("users", *arguments)
    assert result.exit_code != 0
    assert "users.source" in result.output
