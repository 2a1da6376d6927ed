"""The service's container as the manifests describe it: its arguments, environment, files and ports, and nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.driving.ports import lasting_ports
from tests.driving.program import Program
from tests.k8s import read_only
from tests.k8s.asking import ask
from tests.k8s.mounted import Mounted
from tests.k8s.rendered import Manifest, Manifests

COMMAND = Path(sys.executable).with_name("token-service")
"""What the image's entry point names."""

SECRETS = {
    "encryption-key": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY\n",
    "redis-password": "0123456789abcdef",
}


@dataclass(frozen=True)
class Pod:
    """A running container."""

    mounted: Mounted
    program: Program
    ports: Mapping[int, int]
    """Where each port of the container is on this machine."""

    def ask(self, port: str, path: str, **form: str) -> tuple[int, bytes]:
        """Status and body of a GET, or of a POST where there is a form, at one of the container's named ports."""
        (number,) = (
            each["containerPort"]
            for each in self.mounted.manifests.container()["ports"]
            if each["name"] == port
        )
        return ask(f"http://127.0.0.1:{self.ports[number]}{path}", form)

    def probe(self, name: str) -> int:
        """The status that one of the container's probes finds."""
        asked: Manifest = self.mounted.manifests.container()[name]["httpGet"]
        return self.ask(asked["port"], asked["path"])[0]

    def token(self, **form: str) -> tuple[int, dict[str, Any]]:
        """The response of the token endpoint."""
        status, body = self.ask("http", "/connect/token", **form)
        return status, json.loads(body)


@contextmanager
def pod_running(
    root: Path,
    manifests: Manifests,
    *,
    replaced: Mapping[str, str],
    secrets: Mapping[str, str] = SECRETS,
    environ: Mapping[str, str] | None = None,
) -> Iterator[Pod]:
    """The container below a root where it may write to its emptyDirs only; `replaced` says where other hosts are."""
    container = manifests.container()
    numbers = [each["containerPort"] for each in container["ports"]]
    ports = dict(zip(numbers, lasting_ports(len(numbers)), strict=True))
    moved = {f"port: {number}\n": f"port: {port}\n" for number, port in ports.items()}
    mounted = Mounted(root, manifests, secrets, {**replaced, **moved})
    program = Program(
        [
            *_environment(mounted, environ or {}),
            *_closed(mounted),
            *container.get("command", [str(COMMAND)]),
            *container["args"],
        ],
        {},
    )
    try:
        program.url()
        yield Pod(mounted, program, ports)
    finally:
        program.kill()


def _environment(mounted: Mounted, further: Mapping[str, str]) -> list[str]:
    """Start with the container's variables and no others; TMPDIR stands for its /tmp."""
    container = mounted.manifests.container()
    given = {each["name"]: mounted.here(each["value"]) for each in container["env"]}
    given |= {"TMPDIR": mounted.here("/tmp"), "PATH": "/usr/bin:/bin", **further}  # noqa: S108 - the container's
    return [
        "env",
        "-i",
        f"--chdir={mounted.root}",
        *(f"{name}={value}" for name, value in given.items()),
    ]


def _closed(mounted: Mounted) -> list[str]:
    if not read_only.available():
        return []
    return [sys.executable, read_only.__file__, *map(str, mounted.writable()), "--"]
