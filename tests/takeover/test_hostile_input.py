"""Whatever the input is, the import ends with an exit code and a reason: never a traceback, half a folder, or a secret that is shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.takeover.hostile import ROWS, SECRET, Row
from tests.takeover.importing import run_command


def write(row: Row, folder: Path) -> Path:
    """Write the input of a row."""
    if isinstance(row.files, Mapping):
        source = folder / "source"
        source.mkdir()
    else:
        source = folder / "source.json"
    listed = row.files if isinstance(row.files, Mapping) else {"": row.files}
    for name, content in listed.items():
        encoded = content.encode() if isinstance(content, str) else content
        (source / name).write_bytes(encoded)
    return source


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row.kind}: {row.name}") for row in ROWS])
def test_hostile_input_ends_with_a_reason(row: Row, tmp_path: Path) -> None:
    source, out = write(row, tmp_path), tmp_path / "out"
    done = run_command("import", row.kind, str(source), "--out", str(out))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    assert (done.exit_code, row.said in done.output) == (row.exit_code, True), done.output
    assert SECRET not in done.output
    assert done.output.replace("\n", "").isprintable()
    assert {each.name for each in tmp_path.iterdir()} <= {source.name, "out"}
    assert out.exists() is (done.exit_code in {0, 4})
    if out.exists():
        checked = run_command("check", str(out / "config.yaml"))
        assert checked.exit_code == 0, checked.output
