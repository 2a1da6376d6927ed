"""Keycloak from Maven, as a process of this run."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from tests.driving.process import REPOSITORY

VERSION = "26.4.2"
SHA256 = "2a30e4602d63d4501a4a8263bfa4e14cbd5970b4116c618ea28f339b16190233"
"""Of the distribution of that version, as Maven Central first sent it."""
DISTRIBUTION = f"org.keycloak:keycloak-quarkus-dist:{VERSION}:zip"
PATIENCE = 600
"""Seconds until Keycloak answers, on a machine that has other things to do."""
HOME = REPOSITORY / f"build/keycloak-{VERSION}"


def install() -> Path:
    """Return the folder of Keycloak, unpacked and built once, without what an earlier run has left in it."""
    if not (HOME / "built").exists():
        _unpack(HOME.parent)
        subprocess.run(["sh", "bin/kc.sh", "build", "--db=dev-file"], cwd=HOME, check=True)
        (HOME / "built").touch()
    shutil.rmtree(HOME / "data", ignore_errors=True)
    return HOME


def _unpack(folder: Path) -> None:
    """Not every mirror has Maven's checksum of the archive, so that it is compared here."""
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
    command = ["mvn", "--batch-mode", "--quiet", "--lax-checksums", plugin]
    with TemporaryDirectory() as downloads:
        where = [f"-Dartifact={DISTRIBUTION}", f"-DoutputDirectory={downloads}"]
        subprocess.run([*command, *where], check=True)
        downloaded = next(Path(downloads).glob("*.zip"))
        with downloaded.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        assert digest == SHA256, "another Keycloak"
        with zipfile.ZipFile(downloaded) as archive:
            archive.extractall(folder)


@contextmanager
def keycloak_running(home: Path, port: int, realm: str, **environ: str) -> Iterator[str]:
    """Keycloak, with the realms in `data/import`; its URL, once the metadata of this realm can be read."""
    url = f"http://localhost:{port}"
    options = ["--optimized", "--http-enabled=true", f"--http-port={port}", f"--hostname={url}"]
    options += ["--http-host=127.0.0.1", "--cache=local", "--import-realm"]
    with (home / "keycloak.log").open("wb") as log:
        process = subprocess.Popen(
            ["sh", "bin/kc.sh", "start", *options],
            cwd=home,
            stdout=log,
            stderr=log,
            env={**os.environ, **environ},
            start_new_session=True,
        )
    try:
        _wait_for(f"{url}/realms/{realm}/.well-known/openid-configuration", process, home)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def export(home: Path, realm: str, folder: Path) -> None:
    """Write the realm and its users into a folder, while Keycloak does not run."""
    what = ["--realm", realm, "--users", "different_files", "--users-per-file", "4"]
    command = ["sh", "bin/kc.sh", "export", "--optimized", "--dir", str(folder), *what]
    done = subprocess.run(command, cwd=home, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def _wait_for(url: str, process: subprocess.Popen[bytes], home: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx2.get(url).status_code == httpx2.codes.OK:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.5)
    raise ChildProcessError((home / "keycloak.log").read_text())
