"""Reads what a release is made of: the commit, its time, and whether the version may be released from it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from service.distribution import VERSION

TOP = Path(__file__).parents[2]
BUILD = TOP / "build/release"
SOURCE = BUILD / "source"
SHOWN = 10
"""How many of the changed files a refusal names."""


class Refused(Exception):
    """No release can be made of this checkout; the text says what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """The commit that a release is built from, and its tag."""

    commit: str
    time: int
    tag: str | None

    @property
    def short_commit(self) -> str:
        """The commit as `--version` and the metrics show it."""
        return self.commit[:12]


def read_release() -> Release:
    """Return the release that HEAD makes, or raise Refused."""
    changed = _git("status", "--porcelain").splitlines()
    if changed:
        more = [f"and {len(changed) - SHOWN} more"] if len(changed) > SHOWN else []
        listed = "\n  ".join(changed[:SHOWN] + more)
        raise Refused(f"the checkout is not its commit; commit or remove these files:\n  {listed}")
    commit, time = _git("log", "-1", "--format=%H %ct").split()
    tag = None if is_development(VERSION) else _find_tag(commit)
    check_changelog((TOP / "CHANGELOG.md").read_text(), VERSION)
    return Release(commit=commit, time=int(time), tag=tag)


def is_development(version: str) -> bool:
    """Return whether this is a version between two releases (PEP 440)."""
    return ".dev" in version


def check_changelog(text: str, version: str) -> None:
    """Raise Refused unless the changelog has a section with entries for the version."""
    heading, date = (
        ("[Unreleased]", "") if is_development(version) else (f"[{version}]", " - YYYY-MM-DD")
    )
    line = re.escape(heading + date).replace("YYYY\\-MM\\-DD", r"\d{4}-\d{2}-\d{2}")
    section = re.search(rf"^## {line}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None:
        raise Refused(f"CHANGELOG.md has no section for {version}; write one: ## {heading}{date}")
    if not re.search(r"^- ", section[1], re.MULTILINE):
        raise Refused(f"CHANGELOG.md says nothing below {heading}; list what is new there")


def export(release: Release) -> None:
    """Write the files of the commit, and nothing else, into build/release/source, with the commit's name."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    archive = ["git", "-c", "tar.umask=0022", "archive", "--format=tar", release.commit]
    with subprocess.Popen(archive, cwd=TOP, stdout=subprocess.PIPE) as running:
        subprocess.run(["tar", "-xp", "-C", SOURCE], stdin=running.stdout, check=True)
    if running.returncode:
        raise Refused(f"git archive failed with status {running.returncode}")
    (SOURCE / "service/commit").write_text(f"{release.short_commit}\n")


def _find_tag(commit: str) -> str:
    tag = f"v{VERSION}"
    if tag not in _git("tag", "--points-at", commit).split():
        raise Refused(
            f"{commit[:12]} has no tag {tag}; set it: git tag -a {tag} -m 'Release {VERSION}'"
        )
    return tag


def _git(*arguments: str) -> str:
    return subprocess.check_output(["git", *arguments], cwd=TOP, text=True)
