"""The wheel holds all that the service needs: an empty environment and an empty folder suffice (PEP 427)."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from scripts.install import find_pip, uv_environment
from service.distribution import find_commit
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
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--wheel", "--no-build-isolation", "-o", folder, REPOSITORY)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def url(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The installed service, started in an empty folder that holds only its configuration."""
    folder = tmp_path_factory.mktemp("installed")
    environment, empty = folder / "environment", folder / "empty"
    uv("venv", "--python", sys.executable, environment)
    locked = REPOSITORY / "requirements.lock"
    uv("pip", "install", "--python", environment, "--constraints", locked, wheel)
    empty.mkdir()
    (empty / "config.yaml").write_text((REPOSITORY / "config.yaml").read_text())
    (port,) = lasting_ports(1)
    started = [f"SERVICE_PORT={port}", str(environment / "bin/token-service"), "serve"]
    program = Program(["env", "-i", f"--chdir={empty}", *started], {})
    try:
        program.url()
        yield f"http://localhost:{port}"
    finally:
        program.kill()


def get(url: str, **headers: str) -> httpx2.Response:
    return httpx2.get(url, headers=headers, timeout=30, trust_env=False, follow_redirects=True)


def test_the_installed_service_issues_a_token(url: str) -> None:
    answer = httpx2.post(
        f"{url}/connect/token",
        data={"grant_type": "client_credentials", "scope": "api1"},
        auth=("machine", "machine-secret"),
        timeout=30,
        trust_env=False,
    )
    assert answer.status_code == 200
    assert answer.json()["token_type"] == "Bearer"


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
