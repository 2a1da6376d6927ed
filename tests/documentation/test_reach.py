"""docs/reach.md shows what the commands print for the demonstration, and its rows hold."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli.program import program
from tests.documentation.reading import REPOSITORY, blocks, says

BLOCKS = blocks(REPOSITORY / "docs/reach.md")
COMMAND = r"^\$ \.venv/bin/python -m service (.*)\n((?:(?!\$ ).*\n)+)"
SHOWN = re.findall(COMMAND, BLOCKS[0].text, re.MULTILINE)
ROWS = next(block.text for block in BLOCKS if block.language == "yaml")


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)


def test_page_begins_with_three_commands() -> None:
    assert len(SHOWN) == 3


@pytest.mark.parametrize(("command", "printed"), SHOWN, ids=[command for command, _ in SHOWN])
def test_command_prints_what_the_page_shows(command: str, printed: str) -> None:
    assert says(printed, CliRunner().invoke(program, shlex.split(command)).stdout)


def test_rows_of_the_page_hold(tmp_path: Path) -> None:
    file = tmp_path / "registry.test.yaml"
    file.write_text(ROWS)
    assert CliRunner().invoke(program, ["test", str(file)]).exit_code == 0
