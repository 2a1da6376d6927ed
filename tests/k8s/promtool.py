"""Runs promtool on rules, on their effects in a story, and on a query."""

from __future__ import annotations

import subprocess
from pathlib import Path

import yaml

from tests.k8s.rendered import Manifest


def checked(folder: Path, groups: list[Manifest]) -> Path:
    """The file of these rules, after promtool has accepted every one."""
    rules = folder / "rules.yaml"
    rules.write_text(yaml.safe_dump({"groups": groups}))
    _promtool("check", "rules", str(rules))
    return rules


def tested(stories: Path) -> None:
    """Run unit tests of rules."""
    _promtool("test", "rules", str(stories))


def parsed(folder: Path, queries: list[str]) -> None:
    """Let promtool read queries, as a recording rule each."""
    rules = [{"record": f"query:{at}", "expr": query} for at, query in enumerate(queries)]
    checked(folder, [{"name": "queries", "rules": rules}])


def _promtool(*arguments: str) -> None:
    found = subprocess.run(
        ["promtool", *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert found.returncode == 0, found.stdout + found.stderr
