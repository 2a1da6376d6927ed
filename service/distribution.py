"""Knows what is installed: the version, the commit, and how an extra is added."""

from __future__ import annotations

from pathlib import Path

VERSION = "0.3.0.dev0"
"""The one of pyproject.toml, which a start need not look up."""

_PACKAGE = Path(__file__).parent
_COMMIT_LENGTH = 12


def find_commit(package: Path = _PACKAGE) -> str:
    """Return the commit that an image or a wheel was built from, or a checkout is at; `unknown` elsewhere."""
    try:
        written = package / "commit"
        found = written.read_text() if written.exists() else _read_head(package.parent / ".git")
    except (OSError, ValueError):
        return "unknown"
    return found.strip()[:_COMMIT_LENGTH] or "unknown"


def _read_head(git: Path) -> str:
    """Return what HEAD stands for, without git, which may be missing (gitrepository-layout(5))."""
    if git.is_file():  # a worktree
        git = git.parent / git.read_text().removeprefix("gitdir: ").strip()
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref: "):
        return head
    name, common = head.removeprefix("ref: "), git / "commondir"
    shared = git / common.read_text().strip() if common.exists() else git
    if (shared / name).exists():
        return (shared / name).read_text()
    packed = (line.partition(" ") for line in (shared / "packed-refs").read_text().splitlines())
    return {ref: commit for commit, _, ref in packed}.get(name, "unknown")


def how_to_install(extra: str) -> str:
    """Return the command that adds an extra to a checkout, and the one that makes an image with it."""
    lock = f"requirements-{extra if extra in ('ldap', 'tracing') else 'all'}.lock"
    return f"run .venv/bin/python scripts/install.py {lock}, or build the image by make image LOCK={lock}"
