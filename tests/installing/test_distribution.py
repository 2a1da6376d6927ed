"""The version and the commit are true, wherever the service was built."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from service.distribution import VERSION, find_commit, how_to_install

REPOSITORY = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_version_is_that_of_the_distribution() -> None:
    assert (PYPROJECT["name"], PYPROJECT["version"]) == ("aiohttp-token-service", VERSION)


def test_every_image_that_a_file_names_has_the_version() -> None:
    files = [REPOSITORY / "compose.yaml", *REPOSITORY.glob("docs/*.md")]
    named = re.compile(r"token-service:(\d+\.[\w.]+)")
    tags = {tag for file in files for tag in named.findall(file.read_text())}
    for overlay in REPOSITORY.glob("k8s/overlays/*/kustomization.yaml"):
        tags |= set(re.findall(r"newTag: (\S+)", overlay.read_text()))
    assert tags == {VERSION}


def git(folder: Path, *arguments: str) -> str:
    author = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    ran = subprocess.run(
        ["git", *author, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one commit."""
    folder = tmp_path / "checkout"
    (folder / "service").mkdir(parents=True)
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=First")
    return folder


def on_a_branch(checkout: Path) -> Path:
    return checkout


def packed(checkout: Path) -> Path:
    git(checkout, "pack-refs", "--all")
    return checkout


def detached(checkout: Path) -> Path:
    git(checkout, "checkout", "--quiet", "--detach")
    return checkout


def in_a_worktree(checkout: Path) -> Path:
    git(checkout, "worktree", "add", "--quiet", "../beside")
    return checkout.parent / "beside"


@pytest.mark.parametrize("place", [on_a_branch, packed, detached, in_a_worktree])
def test_the_commit_of_a_checkout_is_found(checkout: Path, place: Callable[[Path], Path]) -> None:
    folder = place(checkout)
    assert find_commit(folder / "service") == git(folder, "rev-parse", "HEAD")[:12]


def test_the_commit_that_a_build_wrote_comes_first(checkout: Path) -> None:
    (checkout / "service/commit").write_text(f"{COMMIT}\n")
    assert find_commit(checkout / "service") == COMMIT[:12]


@pytest.mark.parametrize("head", [None, "", "ref: refs/heads/gone", "\xff"])
def test_the_commit_is_unknown_elsewhere(tmp_path: Path, head: str | None) -> None:
    if head is not None:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git/HEAD").write_bytes(head.encode("latin-1"))
    assert find_commit(tmp_path / "service") == "unknown"


@pytest.mark.parametrize("extra", PYPROJECT["optional-dependencies"])
def test_an_extra_is_installed_from_a_lock_file_that_holds_it(extra: str) -> None:
    lock = how_to_install(extra).split()[3].rstrip(",")
    locked = set(re.findall(r"^([\w-]+)", (REPOSITORY / lock).read_text(), re.MULTILINE))
    wanted = PYPROJECT["optional-dependencies"][extra]
    assert {re.split(r"[\[<>=]", one)[0].lower() for one in wanted} <= locked
