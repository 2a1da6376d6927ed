"""Every command explains itself, with an example."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from service.cli.program import COMMANDS, FAMILIAR, program
from service.distribution import VERSION, find_commit


def commands(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
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
    assert f"token-service {' '.join(path)}".rstrip() in result.stdout.partition("Example")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str) -> None:
    command = program.get_command(click.Context(program), name)
    assert command is not None
    assert command.get_short_help_str(limit=300) == COMMANDS[name][1]


@pytest.mark.parametrize("command", [("serve",), ("keys", "list"), ("users", "show", "alice")])
def test_command_says_by_which_option_it_takes_the_configuration(command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(program, [*command, "my/config.yaml"])
    assert result.exit_code == 2
    assert "(my/config.yaml); name the configuration by --config" in result.stderr


def test_other_arguments_too_many_are_named_alone() -> None:
    result = CliRunner().invoke(program, ["serve", "8080"])
    assert result.exit_code == 2
    assert result.stderr.endswith("Error: Got unexpected extra argument (8080)\n")


def test_help_imports_no_command() -> None:
    asked = "import sys; from service.cli.program import program; program(['--help'], standalone_mode=False)"
    told = subprocess.run(
        [sys.executable, "-c", f"{asked}; print([*sys.modules])"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "Run the service." in told
    assert "pydantic" not in told
    assert "service.cli.serve" not in told


def test_the_commands_are_those_of_the_contract() -> None:
    assert set(COMMANDS) == {
        "import",
        "serve",
        "check",
        "schema",
        "hash-secret",
        "hash-password",
        "new-key",
        "users",
        "new",
        "new-secret",
        "keys",
        "explain",
        "sessions",
        "factors",
        "grants",
        "diff",
        "graph",
        "why",
        "test",
    }


def test_the_version_is_shown_with_the_commit() -> None:
    result = CliRunner().invoke(program, ["--version"])
    assert result.stdout == f"token-service {VERSION} (commit {find_commit()})\n"


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["chekc"], "Did you mean 'check'?"),
        (["validate"], "Did you mean 'check'?"),
        (["run"], "Did you mean 'serve'?"),
        (["version"], "Did you mean '--version'?"),
        (["clients"], "Did you mean 'graph' or 'new client'?"),
        (["keys", "lsit"], "Did you mean 'list'?"),
        (["check", "--profle", "oauth21"], "Did you mean '--profile'?"),
    ],
    ids=" ".join,
)
def test_a_mistyped_word_comes_with_the_right_one(arguments: list[str], meant: str) -> None:
    result = CliRunner().invoke(program, arguments)
    assert (result.exit_code, meant in result.stderr) == (2, True)


def test_a_command_of_another_server_comes_with_one_that_is_there() -> None:
    meant = [one.split()[0] for each in FAMILIAR.values() for one in each.split("' or '")]
    assert {one for one in meant if not one.startswith("-")} <= COMMANDS.keys()
    assert COMMANDS.keys().isdisjoint(FAMILIAR)
