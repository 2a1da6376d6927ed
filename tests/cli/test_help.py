"""Every command explains itself, with an example."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from service.cli.program import COMMANDS, program


def commands(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    if path:
        yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, *path, name)


@pytest.mark.parametrize("path", [*commands(program)], ids=" ".join)
def test_every_command_has_an_example(path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(program, [*path, "--help"])
    assert result.exit_code == 0
    assert f"python -m service {' '.join(path)}" in result.stdout.partition("Example")[2]


def test_the_commands_are_those_of_the_contract() -> None:
    assert set(COMMANDS) == {
        "serve",
        "check",
        "schema",
        "hash-secret",
        "hash-password",
        "new-key",
        "keys",
        "explain",
        "sessions",
        "grants",
        "diff",
    }
