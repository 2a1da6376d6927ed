"""Writes the commit into wheels and source archives; hatchling runs it for each build."""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface[Any]):
    """Adds service/commit, which service/distribution.py reads where there is no checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Do so but for an editable installation, whose files are those of the checkout."""
        if version == "editable":
            return
        find_commit = runpy.run_path(f"{self.root}/service/distribution.py")["find_commit"]
        self._folder = tempfile.TemporaryDirectory()
        written = Path(self._folder.name, "commit")
        written.write_text(find_commit() + "\n")
        build_data["force_include"][str(written)] = "service/commit"
