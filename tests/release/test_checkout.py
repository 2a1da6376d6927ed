"""A release is made of a checkout that is its commit, with a section in the changelog, and of a tag."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.release import __main__ as program
from scripts.release import checkout
from scripts.release.checkout import Refused, check_changelog, read_release

CHANGELOG = """\
# Changelog

## [Unreleased]

### Added

- A thing.

## [0.3.0] - 2026-12-01

- Another thing.

## [0.2.0] - 2026-11-22
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, of version 0.3.0."""
    monkeypatch.setattr(checkout, "TOP", tmp_path)
    monkeypatch.setattr(checkout, "VERSION", "0.3.0")
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message=First", "--date=2026-12-01T00:00:00Z")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    author = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.check_output(["git", *author, *arguments], cwd=folder, text=True).strip()


def test_release_of_a_tagged_commit_has_its_commit_time_and_tag(repository: Path) -> None:
    git(repository, "tag", "v0.3.0")
    release = read_release()
    assert release.commit == git(repository, "rev-parse", "HEAD")
    assert release.time == int(git(repository, "log", "-1", "--format=%ct"))
    assert release.tag == "v0.3.0"


def test_release_is_refused_without_its_tag_on_the_commit(repository: Path) -> None:
    git(repository, "tag", "v0.2.0")
    with pytest.raises(Refused, match=r"has no tag v0\.3\.0; set it: git tag -a v0\.3\.0"):
        read_release()


@pytest.mark.usefixtures("repository")
def test_development_version_needs_no_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "VERSION", "0.4.0.dev0")
    assert read_release().tag is None


@pytest.mark.parametrize("name", ["new.py", "CHANGELOG.md"])
def test_release_is_refused_while_a_file_differs_from_the_commit(
    repository: Path, name: str
) -> None:
    (repository / name).write_text("changed")
    with pytest.raises(Refused, match=rf"commit or remove these files:\n  .. {name}"):
        read_release()


def test_refusal_names_ten_files_at_most(repository: Path) -> None:
    for number in range(12):
        (repository / f"{number}.py").touch()
    with pytest.raises(Refused) as refused:
        read_release()
    assert str(refused.value).count(".py") == 10
    assert str(refused.value).endswith("and 2 more")


@pytest.mark.parametrize(
    ("version", "text", "message"),
    [
        ("0.4.0", CHANGELOG, "no section for 0.4.0; write one: ## [0.4.0] - YYYY-MM-DD"),
        ("0.3.0", CHANGELOG.replace(" - 2026-12-01", ""), "no section for 0.3.0"),
        ("0.2.0", CHANGELOG, "says nothing below [0.2.0]"),
        ("0.4.0.dev1", "# Changelog\n", "no section for 0.4.0.dev1; write one: ## [Unreleased]"),
        ("0.4.0.dev1", "## [Unreleased]\n\n## [0.3.0]\n- a\n", "says nothing below [Unreleased]"),
    ],
    ids=["no section", "no date", "an empty section", "no Unreleased", "an empty Unreleased"],
)
def test_release_is_refused_without_entries_in_the_changelog(
    version: str, text: str, message: str
) -> None:
    with pytest.raises(Refused) as refused:
        check_changelog(text, version)
    assert message in str(refused.value)


@pytest.mark.parametrize("version", ["0.3.0", "0.4.0.dev1"])
def test_changelog_with_entries_for_the_version_is_accepted(version: str) -> None:
    check_changelog(CHANGELOG, version)


def test_export_holds_the_files_of_the_commit_and_its_name(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "SOURCE", repository / "build/source")
    (repository / "service").mkdir()
    (repository / "service/a.py").touch()
    (repository / ".gitignore").write_text("/build\n/service/commit\n__pycache__\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=Second")
    git(repository, "tag", "v0.3.0")
    (repository / "service/__pycache__").mkdir()
    (repository / "service/commit").write_text("that of an earlier build")
    release = read_release()
    checkout.export(release)
    exported = sorted(path.name for path in checkout.SOURCE.rglob("*") if path.is_file())
    assert exported == [".gitignore", "CHANGELOG.md", "a.py", "commit"]
    assert (checkout.SOURCE / "service/commit").read_text() == f"{release.commit[:12]}\n"


def test_release_is_refused_without_buildah_before_anything_is_written(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(repository))
    monkeypatch.setattr(program, "DIST", repository / "dist")
    with pytest.raises(Refused, match=r"buildah is missing: .* apt-get install buildah"):
        program.main("")
    assert not (repository / "dist").exists()
