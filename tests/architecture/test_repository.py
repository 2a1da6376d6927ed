"""The repository's own promises: locked dependencies, commands that say what they do, a bare machine's set-up."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
GROUPS = PYPROJECT["dependency-groups"]
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
LOCKS = [f"requirements{name}.lock" for name in ("", "-tracing", "-all", "-ldap", "-dev", "-uv")]
COMMANDS = ["install", "run", "test", "interop", "check", "bench", "docs", "help"]


def test_repository_holds_nothing_that_a_package_manager_downloads() -> None:
    listed = subprocess.check_output(["git", "ls-files"], cwd=REPOSITORY, text=True)
    downloaded = (".whl", ".tar.gz", ".tgz", ".jar")
    assert [name for name in listed.splitlines() if name.endswith(downloaded)] == []


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements.lock", PYPROJECT["project"]["dependencies"]),
        ("requirements-tracing.lock", EXTRAS["tracing"]),
        (
            "requirements-all.lock",
            [*chain(*(EXTRAS[name] for name in EXTRAS.keys() - {"ldap"}))],
        ),
        ("requirements-ldap.lock", [*chain(*EXTRAS.values())]),
        ("requirements-dev.lock", [one for one in GROUPS["dev"] if isinstance(one, str)]),
        ("requirements-uv.lock", GROUPS["uv"]),
        ("requirements-site.lock", GROUPS["site"]),
    ],
    ids=[
        "run",
        "tracing",
        "all-extras-with-wheels",
        "all-extras",
        "development",
        "uv",
        "site",
    ],
)
def test_every_dependency_is_locked(lock: str, wanted: list[str]) -> None:
    locked = set(re.findall(r"^([\w.-]+)==", (REPOSITORY / lock).read_text(), re.MULTILINE))
    assert {re.split(r"[\[<>=]", one)[0].lower() for one in wanted} <= locked


@pytest.mark.parametrize(
    ("lock", "longer"),
    [
        ("requirements.lock", "requirements-tracing.lock"),
        ("requirements-tracing.lock", "requirements-all.lock"),
        ("requirements-all.lock", "requirements-ldap.lock"),
        ("requirements-all.lock", "requirements-dev.lock"),
        ("requirements-uv.lock", "requirements-dev.lock"),
    ],
)
def test_a_longer_lock_only_adds(lock: str, longer: str) -> None:
    assert versions(lock).items() <= versions(longer).items()


def versions(lock: str) -> dict[str, str]:
    """The locked versions."""
    text = (REPOSITORY / lock).read_text()
    return dict(re.findall(r"^([\w.-]+)(?:\[.*\])?==([\w.]+)", text, re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_a_hash(lock: str) -> None:
    entries = re.split(r"\n(?=\w)", (REPOSITORY / lock).read_text())
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_place(lock: str) -> None:
    assert "://" not in (REPOSITORY / lock).read_text()


@pytest.mark.parametrize("client", ["openid_client", "oidc_client_ts", "standard_webhooks"])
def test_every_npm_package_has_a_hash_and_no_place(client: str) -> None:
    lock = json.loads((REPOSITORY / f"tests/interop/{client}/package-lock.json").read_text())
    packages = [package for path, package in lock["packages"].items() if path]
    assert all("integrity" in package and "resolved" not in package for package in packages)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_what_it_does(command: str) -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(rf"^  make {command} +\w", shown.stdout, re.MULTILINE)
