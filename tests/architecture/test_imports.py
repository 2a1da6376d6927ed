"""The import contracts of pyproject.toml hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def test_imports_only_go_down() -> None:
    contracts = subprocess.run(
        [LINT_IMPORTS, "--no-cache"], capture_output=True, text=True, check=False
    )
    assert contracts.returncode == 0, contracts.stdout
