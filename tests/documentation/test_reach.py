"""docs/reach.md shows what the commands print for the demonstration, and its rows hold."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli.program import program
from tests.documentation.reading import REPOSITORY, blocks, says

BLOCKS = blocks(REPOSITORY / "docs/reach.md")
COMMAND = re.compile(r"^\$ (.*)\n", re.MULTILINE)
SHOWN = BLOCKS[0].text
ROWS = next(block.text for block in BLOCKS if block.language == "yaml")


def test_commands_at_the_beginning_print_what_the_page_shows() -> None:
    commands = COMMAND.findall(SHOWN)
    assert len(commands) == 3
    script = "\n".join(commands).replace(".venv/bin/", f"{Path(sys.executable).parent}/")
    ran = subprocess.run(
        ["sh", "-e"], input=script, cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert says(COMMAND.sub("", SHOWN), ran.stdout)


def test_rows_of_the_page_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    file = tmp_path / "registry.test.yaml"
    file.write_text(ROWS)
    assert CliRunner().invoke(program, ["test", str(file)]).exit_code == 0
