"""Keycloak from Maven, as a process of this run."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from tests.driving.process import REPOSITORY

VERSIONS = {
    "26.4.7": "f9d4e0ced49976932e173abc8d2f6ff4169c125fe3b14e69ebaa0ccc4dea822e879f7ec7353d28fa40c13de0113059c6888833725378ecef4d27587e0c87a6a2",
    "26.4.2": "1cc9b88124e4627f27b66b3667c42985470e94fba0ce69fdf563d4bf394fd43fca06a81dd1d1f24308a206288a18a6569e6a45bf2c7cf184541c59793b1a5ca8",
}
"""The versions that the tests are known to pass with, and the SHA-512 of their distributions; the first one that Maven finds is taken."""
PATIENCE = 600
"""Seconds until Keycloak answers, on a machine that has other things to do."""


class Unavailable(Exception):
    """No version can be had, or it is not the one that is expected."""


def install() -> Path:
    """Return the folder of Keycloak, unpacked and built once, without what an earlier run has left in it."""
    homes = {version: REPOSITORY / f"build/keycloak-{version}" for version in VERSIONS}
    built = [home for home in homes.values() if (home / "built").exists()]
    home = built[0] if built else _install_first(homes)
    shutil.rmtree(home / "data", ignore_errors=True)
    return home


def _install_first(homes: Mapping[str, Path]) -> Path:
    reasons: list[str] = []
    for version, home in homes.items():
        try:
            _unpack(version, home.parent)
        except Unavailable as reason:
            reasons.append(f"{version}: {reason}")
            continue
        subprocess.run(["sh", "bin/kc.sh", "build", "--db=dev-file"], cwd=home, check=True)
        (home / "built").touch()
        return home
    raise Unavailable(
        "Maven finds no Keycloak of tests/keycloak/running.py; add a version that it has, with its SHA-512:\n"
        + "\n".join(reasons)
    )


def _unpack(version: str, folder: Path) -> None:
    """Not every mirror has Maven's checksum of the archive, so that it is compared here."""
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
    command = ["mvn", "--batch-mode", "--quiet", "--lax-checksums", plugin]
    with TemporaryDirectory() as downloads:
        artifact = f"org.keycloak:keycloak-quarkus-dist:{version}:zip"
        where = [f"-Dartifact={artifact}", f"-DoutputDirectory={downloads}"]
        done = subprocess.run([*command, *where], check=False, capture_output=True, text=True)
        downloaded = next(Path(downloads).glob("*.zip"), None)
        if done.returncode or downloaded is None:
            raise Unavailable((done.stdout + done.stderr).strip()[:500])
        with downloaded.open("rb") as content:
            digest = hashlib.file_digest(content, "sha512").hexdigest()
        if digest != VERSIONS[version]:
            raise Unavailable(f"the archive has another SHA-512: {digest}")
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
