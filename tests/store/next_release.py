"""The service as it may be in its next release: its code, with members and versions that are new."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.driving.process import REPOSITORY

CHANGES: Mapping[str, Mapping[str, str]] = {
    "service/model/session.py": {
        "    user_agent: str\n": '    user_agent: str\n    device: str = "unknown"\n',
    },
    "service/identity/sessions.py": {
        '            user_agent="".join(\n': (
            '            device="laptop",\n            user_agent="".join(\n'
        ),
        "created_at=clock(),\n": 'created_at=clock(),\n        device="laptop",\n',
    },
    "service/model/authorization.py": {
        "    created_at: int\n": '    device: str = "unknown"\n    created_at: int\n',
        "    ends_at: int\n": '    device: str = "unknown"\n    ends_at: int\n',
    },
    "service/store/records.py": {'Encoding("spent", Spent, 4)': 'Encoding("spent", Spent, 5)'},
    "service/keys/schedule.py": {'Encoding("keys", KeyRecord)': 'Encoding("keys", KeyRecord, 2)'},
}

CHANGED_KINDS = ("az", "ac", "rt", "ss", "pk", "co")
_KIND = r'Records\(prefix, "(%s)", (\w+)(?:, (\d+))?\)'


def _with_next_versions(text: str) -> str:
    """The table of records, with the next version of every kind that has changed."""
    table, count = re.subn(
        _KIND % "|".join(CHANGED_KINDS),
        lambda known: f'Records(prefix, "{known[1]}", {known[2]}, {int(known[3] or 1) + 1})',
        text,
    )
    assert count == len(CHANGED_KINDS)
    return table


def next_release(folder: Path) -> dict[str, str]:
    """Write it there; the environment in which `python -m service` runs it."""
    for name in ("service", "templates"):
        shutil.copytree(
            REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name, replaced in CHANGES.items():
        text = (folder / name).read_text()
        for old, new in replaced.items():
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        (folder / name).write_text(text)
    stores = folder / "service/store/stores.py"
    stores.write_text(_with_next_versions(stores.read_text()))
    return {"PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}
