"""The image's steps, done by hand in an empty folder, make a service that starts where nothing can be written."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.distribution import find_commit
from tests.driving.ports import lasting_ports
from tests.driving.program import Program
from tests.k8s import read_only
from tests.k8s.asking import ask
from tests.k8s.dockerfile import REPOSITORY, Image, instructions
from tests.k8s.rendered import K8S

CONFIG = """\
issuer: http://localhost:8080
api_resources: [{name: api1}]
clients:
  - client_id: machine
    client_secrets: [{sha256: "b13z1hoikMvamifVhPp+UJwoEdqP1n6rDcXDnDeJu34="}]
    allowed_grant_types: [client_credentials]
    allowed_scopes: [api1]
"""


def test_the_steps_make_a_service_that_issues_a_token(tmp_path: Path) -> None:
    image = Image(tmp_path / "image")
    image.build()
    assert imports(image, "service", "aiohttp") == []
    assert imports(image, "pip", "hatchling") == ["pip", "hatchling"]
    assert without_bytecode(image) == []
    with running(image, tmp_path) as url:
        assert token_of(url)["token_type"] == "Bearer"


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


def imports(image: Image, *names: str) -> list[str]:
    """The modules that the image's Python does not find."""
    find = (
        "import sys, importlib.util as u; print(*[n for n in sys.argv[1:] if not u.find_spec(n)])"
    )
    python = image.root / "app/.venv/bin/python"
    found = subprocess.run(
        [str(python), "-c", find, *names], capture_output=True, text=True, check=True, cwd="/"
    )
    return found.stdout.split()


def without_bytecode(image: Image) -> list[Path]:
    """Return the sources that each start would compile, because the result cannot be written."""
    return [
        source
        for source in (image.root / "app/service").rglob("*.py")
        if not list((source.parent / "__pycache__").glob(f"{source.stem}.*.pyc"))
    ]


@contextmanager
def running(image: Image, folder: Path) -> Iterator[str]:
    """The image's own command, with a configuration."""
    config = folder / "config.yaml"
    config.write_text(CONFIG)
    (port,) = lasting_ports(1)
    given = {**image.environ, "SERVICE_CONFIG": str(config), "SERVICE_PORT": str(port)}
    environ = ["env", "-i", *(f"{name}={value}" for name, value in given.items())]
    closed = [sys.executable, read_only.__file__, "--"] if read_only.available() else []
    program = Program([*environ, *closed, *image.entry_point, *image.command], {})
    try:
        program.url()
        yield f"http://127.0.0.1:{port}"
    finally:
        program.kill()


def token_of(url: str) -> dict[str, object]:
    form = {
        "grant_type": "client_credentials",
        "client_id": "machine",
        "client_secret": "machine-secret",
    }
    status, body = ask(f"{url}/connect/token", form)
    assert status == 200
    answer: dict[str, object] = json.loads(body)
    return answer
