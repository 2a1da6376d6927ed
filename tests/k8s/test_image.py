"""The Dockerfile keeps its promises, and `make image` finds an engine; tests/release starts the image itself."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from service.distribution import find_commit
from tests.k8s.rendered import K8S

REPOSITORY = Path(__file__).parents[2]


def instructions() -> list[tuple[str, str]]:
    """Each instruction with what follows it, lines that go on joined."""
    text = (REPOSITORY / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def test_everything_that_is_copied_is_seen_by_the_engine() -> None:
    seen = {
        line[1:] for line in (REPOSITORY / ".dockerignore").read_text().split() if line[0] == "!"
    }
    copied = [rest.split()[:-1] for word, rest in instructions() if word == "COPY"]
    assert {name for names in copied if names[0] != "--from=build" for name in names} == seen


def test_the_user_is_the_pods_own_and_a_number() -> None:
    (user,) = (rest for word, rest in instructions() if word == "USER")
    pod = re.search(r"runAsUser: (\d+)", (K8S / "base/deployment.yaml").read_text())
    assert pod
    assert user == f"{pod[1]}:{pod[1]}"


def test_every_package_is_installed_by_its_hash() -> None:
    installs = [
        step
        for word, rest in instructions()
        if word == "RUN"
        for step in rest.split("&&")
        if "pip" in step and " install " in step
    ]
    assert all("--require-hashes" in step or "--no-deps" in step for step in installs)


def test_the_python_is_the_one_that_the_tests_run_on() -> None:
    (base,) = (rest for word, rest in instructions() if word == "ARG" and rest[:4] == "BASE")
    assert re.fullmatch(r"BASE=python:3\.(\d+)-slim-\w+", base)
    assert f"python:3.{oldest_supported()}-" in base


def oldest_supported() -> str:
    found = re.search(
        r'requires-python = ">=3\.(\d+)"', (REPOSITORY / "pyproject.toml").read_text()
    )
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("working", "engine"), [(["docker", "buildah"], "docker"), (["buildah"], "buildah")]
)
def test_the_first_engine_that_works_builds_the_image(
    tmp_path: Path, working: list[str], engine: str
) -> None:
    engines(tmp_path, working)
    built = make_image(tmp_path, BASE="python@sha256:0")
    assert built.returncode == 0
    head = find_commit()
    assert built.stdout == (
        f"{engine} build --tag token-service:{version()} --build-arg COMMIT={head} --build-arg BASE=python@sha256:0 .\n"
    )


def test_without_an_engine_it_says_what_to_install(tmp_path: Path) -> None:
    engines(tmp_path, [])
    built = make_image(tmp_path)
    assert built.returncode == 1
    assert "apt-get install buildah" in built.stderr


def engines(folder: Path, working: list[str]) -> None:
    """Put programs into a folder that only say how they were called; those that do not work fail."""
    for name in ("docker", "podman", "buildah"):
        result = 0 if name in working else 1
        (folder / name).write_text(f'#!/bin/sh\necho {name} "$@"\nexit {result}\n')
        (folder / name).chmod(0o755)


def make_image(folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(REPOSITORY / "scripts/image")],
        env={"PATH": f"{folder}:/usr/bin:/bin", **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def version() -> str:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    found: str = project["version"]
    return found
