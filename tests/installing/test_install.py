"""scripts/install.py in an empty environment, with an index that only pip's configuration names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from zipfile import ZipFile

import pytest

from tests.installing.backend import make_wheel

REPOSITORY = Path(__file__).parents[2]
BACKEND = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
PROJECT = BACKEND + '[project]\nname = "repository"\nversion = "1.0"\n'


@dataclass(frozen=True)
class Machine:
    """A folder that is home and repository, and nothing of the real ones."""

    folder: Path
    index: str

    def install(self, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run the script as `make install` does."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if "PIP" not in name and "UV" not in name
        }
        return subprocess.run(
            [self.folder / ".venv/bin/python", "scripts/install.py", "requirements.lock"],
            cwd=self.folder,
            env={**kept, "HOME": str(self.folder), **environ},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )

    def list_modules(self) -> set[str]:
        """The modules that are there now."""
        return {path.stem for path in self.folder.glob(".venv/lib/python3*/site-packages/*.py")}

    def write_pip_configuration(self) -> None:
        """Name the index where pip looks."""
        (self.folder / ".config/pip").mkdir(parents=True)
        (self.folder / ".config/pip/pip.conf").write_text(f"[global]\nindex-url = {self.index}\n")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    project = tmp_path / "simple/locked"
    project.mkdir(parents=True)
    wheel = make_wheel(project, "locked")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    (project / "index.html").write_text(f'<a href="{wheel.name}">{wheel.name}</a>')
    (tmp_path / "requirements.lock").write_text(
        f"locked==1.0 --hash=sha256:{sha256(wheel.read_bytes()).hexdigest()}\n"
    )
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "scripts").mkdir()
    shutil.copy(REPOSITORY / "scripts/install.py", tmp_path / "scripts")
    shutil.copy(Path(__file__).with_name("backend.py"), tmp_path)
    venv.create(tmp_path / ".venv")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield Machine(tmp_path, f"http://127.0.0.1:{server.server_port}/simple")
        server.shutdown()


def path_with(folder: Path, uv: str) -> str:
    """A PATH on which this is `uv`."""
    (folder / "bin").mkdir()
    (folder / "bin/uv").symlink_to(uv)
    return f"{folder}/bin:{os.environ['PATH']}"


def test_uv_installs_from_the_index_that_pip_is_configured_with(machine: Machine) -> None:
    machine.write_pip_configuration()
    path = path_with(machine.folder, str(Path(sys.executable).with_name("uv")))
    ran = machine.install(PATH=path)
    assert "pip" not in ran.stderr
    assert machine.list_modules() == {"locked", "repository"}


def test_uv_installs_from_the_index_of_pips_environment_variable(machine: Machine) -> None:
    path = path_with(machine.folder, str(Path(sys.executable).with_name("uv")))
    machine.install(PATH=path, PIP_INDEX_URL=machine.index)
    assert machine.list_modules() == {"locked", "repository"}


def test_uv_leaves_an_environment_alone_that_is_active_in_the_shell(
    machine: Machine, tmp_path: Path
) -> None:
    machine.write_pip_configuration()
    active = tmp_path / "active"
    venv.create(active)
    path = path_with(machine.folder, str(Path(sys.executable).with_name("uv")))
    machine.install(PATH=path, VIRTUAL_ENV=str(active))
    assert machine.list_modules() == {"locked", "repository"}
    assert not list(active.glob("lib/python3*/site-packages/*.py"))


@pytest.mark.parametrize("uv", [str(Path(sys.executable).with_name("uv")), shutil.which("false")])
def test_the_service_of_the_former_name_goes_away(machine: Machine, uv: str) -> None:
    machine.write_pip_configuration()
    (packages,) = machine.folder.glob(".venv/lib/python3*/site-packages")
    with ZipFile(make_wheel(machine.folder, "token-service")) as wheel:
        wheel.extractall(packages)
    assert "token_service" in machine.list_modules()
    machine.install(PATH=path_with(machine.folder, uv))
    assert machine.list_modules() == {"locked", "repository"}


def test_pip_installs_where_uv_fails(machine: Machine) -> None:
    machine.write_pip_configuration()
    ran = machine.install(PATH=path_with(machine.folder, shutil.which("false") or ""))
    assert "trying again with pip" in ran.stderr
    assert machine.list_modules() == {"locked", "repository"}


def test_pip_installs_where_uv_cannot_be_had(machine: Machine) -> None:
    machine.write_pip_configuration()
    without_uv = [
        folder for folder in os.environ["PATH"].split(":") if not (Path(folder) / "uv").exists()
    ]
    machine.install(PATH=":".join(without_uv))
    assert machine.list_modules() == {"locked", "repository"}
