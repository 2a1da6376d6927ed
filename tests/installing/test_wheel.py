"""The wheel holds all that the service needs: an empty environment and an empty folder suffice (PEP 427)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from scripts.install import find_pip, uv_environment
from service.distribution import VERSION, find_commit
from tests.driving.ports import lasting_ports
from tests.driving.program import Program

REPOSITORY = Path(__file__).parents[2]
UV = str(Path(sys.executable).with_name("uv"))


def uv(*arguments: str | Path) -> None:
    """Run uv with the package index of this machine."""
    _, listed = find_pip()
    environ = uv_environment(listed) | os.environ
    ran = subprocess.run(
        [UV, *arguments], env=environ, capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("built")
    uv("build", "--no-build-isolation", "-o", folder, REPOSITORY)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (wheel,) = built.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`token-service` of an environment that holds the wheel, and the locked versions of what it needs."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    uv("venv", "--python", sys.executable, environment)
    locked = REPOSITORY / "requirements.lock"
    uv("pip", "install", "--python", environment, "--constraints", locked, wheel)
    return environment / "bin/token-service"


@contextmanager
def serving(command: Path, folder: Path) -> Iterator[str]:
    """The installed service, started in a folder that holds only its configuration."""
    (port,) = lasting_ports(1)
    started = [f"SERVICE_PORT={port}", str(command), "serve"]
    program = Program(["env", "-i", f"--chdir={folder}", *started], {})
    try:
        program.url()
        yield f"http://localhost:{port}"
    finally:
        program.kill()


@pytest.fixture(scope="module")
def url(command: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("demonstration")
    (folder / "config.yaml").write_text((REPOSITORY / "config.yaml").read_text())
    with serving(command, folder) as url:
        yield url


def run(command: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["env", "-i", str(command), *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )


def token_of(url: str, client_id: str, client_secret: str) -> httpx2.Response:
    form = {"grant_type": "client_credentials", "scope": "api1"}
    credentials = (client_id, client_secret)
    return httpx2.post(
        f"{url}/connect/token", data=form, auth=credentials, timeout=30, trust_env=False
    )


def get(url: str, **headers: str) -> httpx2.Response:
    return httpx2.get(url, headers=headers, timeout=30, trust_env=False, follow_redirects=True)


def test_a_client_made_by_the_installed_command_gets_a_token(command: Path, tmp_path: Path) -> None:
    (tmp_path / "clients").mkdir()
    (tmp_path / "config.yaml").write_text(
        "issuer: http://localhost:8080\napi_resources: [{name: api1}]\ninclude: [clients/*.yaml]\n"
    )
    options = ("--kind=machine", "--name=Nightly", "--scopes=api1", "--framework=none")
    made = run(command, tmp_path, "new", "client", *options)
    (tmp_path / "clients/nightly.yaml").write_text(made.stdout)
    (secret,) = re.findall(r"^export CLIENT_SECRET=(\S+)$", made.stderr, re.MULTILINE)
    with serving(command, tmp_path) as url:
        answer = token_of(url, "nightly", secret)
    assert answer.status_code == 200
    assert answer.json()["token_type"] == "Bearer"


def test_the_installed_command_has_the_schema_of_its_configuration(
    command: Path, tmp_path: Path
) -> None:
    schema = (REPOSITORY / "service/config/config.schema.json").read_text()
    assert run(command, tmp_path, "schema").stdout == schema


def test_the_version_of_the_installed_command_names_the_commit(
    command: Path, tmp_path: Path
) -> None:
    told = f"token-service {VERSION} (commit {find_commit()})\n"
    assert run(command, tmp_path, "--version").stdout == told


def test_the_source_archive_builds_the_same_wheel(built: Path, wheel: Path, tmp_path: Path) -> None:
    uv("build", "--wheel", "--no-build-isolation", "-o", tmp_path, REPOSITORY)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        commit = files.extractfile(f"{archive.name.removesuffix('.tar.gz')}/service/commit")
        assert commit
        assert commit.read().decode().strip() == find_commit()


def test_the_installed_service_has_its_pages_styles_and_languages(url: str) -> None:
    page = get(f"{url}/account", accept="text/html", **{"accept-language": "de"})
    assert page.status_code == 200
    assert "Anmelden" in page.text
    style = page.text.split('<link rel="stylesheet" href="', 1)[1].split('"', 1)[0]
    assert get(f"{url}{style}").headers["content-type"].startswith("text/css")


def test_the_wheel_says_that_it_is_typed_and_holds_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        commit = archive.read("service/commit").decode()
    assert commit.strip() == find_commit()
    assert "service/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {
        "service",
        "aiohttp_token_service",
    }
