"""The same export gives the same bytes, in whatever order a process has the members of its sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.takeover.importing import FILES

EXPORTS = {
    "dex": FILES / "dex.yaml",
    "hydra": FILES / "hydra_client.json",
    "identityserver": FILES / "appsettings.json",
    "keycloak": FILES.parent / "keycloak/export",
}
PROGRAM = "from service.__main__ import main; main()"


def import_with(seed: str, kind: str, out: Path) -> dict[str, bytes]:
    """Import in a process whose hashes of texts are of this seed; return what it has written and printed."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "import", kind, str(EXPORTS[kind]), "--out", str(out)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=False,
    )
    assert done.returncode in {0, 4}, done.stderr
    files = {
        str(each.relative_to(out)): each.read_bytes() for each in out.rglob("*") if each.is_file()
    }
    return {**files, "the report": done.stdout}


@pytest.mark.parametrize("kind", EXPORTS)
def test_the_same_export_gives_the_same_bytes_in_another_process(kind: str, tmp_path: Path) -> None:
    first, second = (import_with(seed, kind, tmp_path / seed) for seed in ("1", "2"))
    assert first == second
