"""The import contracts of pyproject.toml hold."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def test_imports_only_go_down() -> None:
    contracts = subprocess.run(
        [LINT_IMPORTS, "--no-cache"], capture_output=True, text=True, check=False
    )
    assert contracts.returncode == 0, contracts.stdout


def test_the_kit_for_apis_imports_nothing_of_the_service() -> None:
    importing = re.compile(r"^\s*(?:from|import) (?:service|tests|scripts)\b", re.MULTILINE)
    kit = list((REPOSITORY / "api").rglob("*.py"))
    assert len(kit) > 10
    assert [file for file in kit if importing.search(file.read_text())] == []
