"""docs/gateways.md begins with a check that anybody can try against the demonstration, and says how to try the files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli.program import program
from tests.documentation.conftest import Shell
from tests.documentation.reading import REPOSITORY, blocks, says
from tests.driving.proxy_programs import COMMANDS

PAGE = REPOSITORY / "docs/gateways.md"


@pytest.mark.needs("curl")
def test_first_request_gives_what_the_page_says(shell: Shell) -> None:
    command, answer = blocks(PAGE)[:2]
    (printed,) = shell([command.text])
    assert says(answer.text, printed), printed


def test_the_file_that_trusts_proxies_can_be_served(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text((REPOSITORY / "config.yaml").read_text())
    (block, _) = [each for each in blocks(PAGE) if each.section == "Try one of the files"]
    making, _, _ = block.text.partition(".venv/bin/token-service")
    subprocess.run(["sh", "-e"], input=making, cwd=tmp_path, check=True, text=True)
    checked = CliRunner().invoke(program, ["check", str(tmp_path / "build/gateway.yaml")])
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"envoy.yaml"}))
def test_the_proxies_start_as_the_tests_start_them(name: str) -> None:
    assert f"`{' '.join(COMMANDS[name])}`" in PAGE.read_text()
