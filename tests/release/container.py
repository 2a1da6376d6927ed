"""An image's archive as a container that runc runs: its own user, no capability, and a root that nothing can write to."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from scripts.release.archives import unpack_image
from tests.k8s.asking import ask

SECONDS = 60


@dataclass(frozen=True)
class Container:
    """One that runs; commands are run inside of it, by the user of the image."""

    runc: Sequence[str]
    name: str

    def run(self, *command: str) -> str:
        """The output of a command; CalledProcessError where it fails."""
        ran = [*self.runc, "exec", self.name, *command]
        return subprocess.check_output(ran, text=True, stderr=subprocess.STDOUT)

    def end(self, running: subprocess.Popen[bytes]) -> None:
        """Ask the service to end, and remove the container if it does not."""
        try:
            if running.poll() is None:
                subprocess.run([*self.runc, "kill", self.name, "TERM"], check=True)
            running.wait(timeout=SECONDS)
        finally:
            subprocess.run([*self.runc, "delete", "--force", self.name], check=True)


@contextmanager
def container_running(
    archive: Path, folder: Path, environ: Mapping[str, str], health: str
) -> Iterator[Container]:
    """The container of an OCI archive with its own command, once it is healthy; it sees `folder` as /mnt."""
    bundle = folder.with_name("bundle")
    root = bundle / "rootfs"
    root.mkdir(parents=True)
    configuration = unpack_image(archive, root)
    subprocess.run(["runc", "spec"], cwd=bundle, check=True)
    written = bundle / "config.json"
    given = json.loads(written.read_text())
    written.write_text(json.dumps(specify(given, configuration, folder, environ)))
    container = Container(["runc", "--root", str(bundle / "state")], f"release-{os.getpid()}")
    running = subprocess.Popen([*container.runc, "run", "--bundle", str(bundle), container.name])
    try:
        wait_until_healthy(running, health)
        yield container
    finally:
        container.end(running)


def specify(
    spec: dict[str, Any], image: Mapping[str, Any], folder: Path, environ: Mapping[str, str]
) -> dict[str, Any]:
    """Ask runc for what the image says, on the network of this machine."""
    user, _, group = image["User"].partition(":")
    spec["process"] |= {
        "terminal": False,
        "user": {"uid": int(user), "gid": int(group)},
        "args": [*image["Entrypoint"], *image["Cmd"]],
        "env": [*image["Env"], *(f"{name}={value}" for name, value in environ.items())],
        "cwd": image["WorkingDir"],
        "capabilities": {},
        "noNewPrivileges": True,
    }
    spec["root"]["readonly"] = True
    options = ["rbind", "ro"]
    spec["mounts"] += [
        {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"},  # noqa: S108 - the container's own
        {"destination": "/mnt", "type": "bind", "source": str(folder), "options": options},
    ]
    namespaces = spec["linux"]["namespaces"]
    spec["linux"]["namespaces"] = [each for each in namespaces if each["type"] != "network"]
    return spec


def wait_until_healthy(running: subprocess.Popen[bytes], url: str) -> None:
    """Return once the address answers 200; the container must not end before."""
    deadline = time.monotonic() + SECONDS
    while True:
        assert running.poll() is None, "the container ended"
        try:
            status, _ = ask(url)
        except httpx2.TransportError:
            status = 0
        if status == 200:
            return
        assert time.monotonic() < deadline, f"{url} did not answer 200"
        time.sleep(0.2)
