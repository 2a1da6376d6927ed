"""The surroundings of a guide: a service with the demonstration's configuration, and a copy of the guide, on free ports."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_connection
from typing import Any

import httpx2
import yaml

from tests.driving.ports import lasting_ports
from tests.driving.program import eventually
from tests.guides.generated import generate

REPOSITORY = Path(__file__).parents[2]
GUIDES = REPOSITORY / "examples/guides"
WRITTEN_PORTS = ("8080", "3000", "3001", "3002")
"""The ports in the files of guides: the service's, an application's, an API's, and another one's behind it."""
GENERATED = "new_client/fastapi"
"""The one application that is not among the guides: `new client` prints it."""
LOCKED = {"package-lock.json", "go.sum"}
"""Files in which a number is no port."""


def free_ports() -> dict[str, str]:
    """A free port for each that is written."""
    ports = map(str, lasting_ports(len(WRITTEN_PORTS)))
    return dict(zip(WRITTEN_PORTS, ports, strict=True))


@dataclass(frozen=True)
class Site:
    """A folder of this run's own and the ports in use there."""

    folder: Path
    ports: Mapping[str, str] = field(default_factory=free_ports)
    certificate: Path | None = None
    """With its key: the service speaks TLS by it."""

    @property
    def issuer(self) -> str:
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://localhost:{self.ports['8080']}"

    def url(self, port: str) -> str:
        """The origin that a guide writes with this port."""
        return f"http://localhost:{self.ports[port]}"

    def rewritten(self, text: str) -> str:
        """The text of a file with the ports of this run, also where it is percent-encoded."""
        return re.sub(r"(?:\b|(?<=3A))(8080|300[012])\b", lambda port: self.ports[port[1]], text)

    def text(self, name: str) -> str:
        """A file of the guides, with the ports of this run."""
        return self.rewritten((GUIDES / name).read_text())

    def copy(self, name: str) -> Path:
        """Make a copy of a guide's folder in which its ports are this run's."""
        made = self.folder / name
        ignored = shutil.ignore_patterns("node_modules", "target", "__pycache__")
        shutil.copytree(GUIDES / name, made, ignore=ignored)
        for file in made.rglob("*"):
            if file.is_file() and file.name not in LOCKED:
                file.write_text(self.rewritten(file.read_text()))
        return made

    @contextmanager
    def service(self) -> Iterator[None]:
        """Serve with the demonstration's configuration, and the guides' clients in it."""
        clients = self.folder / "clients.yaml"
        clients.write_text(self.text("clients.yaml"))
        whole = yaml.safe_load(self.rewritten((REPOSITORY / "config.yaml").read_text()))
        whole |= {"issuer": self.issuer, "include": [clients.name]}
        if self.certificate:
            pem = str(self.certificate)
            whole["server"] = {"tls": {"certificate": pem, "private_key": pem}}
        config = self.folder / "config.yaml"
        config.write_text(yaml.safe_dump(whole))
        made = generate(
            config, self.folder / GENERATED, redirect_uri=f"{self.url('3000')}/callback"
        )
        whole["clients"] += made["clients"]
        config.write_text(yaml.safe_dump(whole))
        command = [sys.executable, "-m", "service", "serve", "--config", str(config)]
        with self.running([*command, "--port", self.ports["8080"]], REPOSITORY, "8080"):
            yield

    @contextmanager
    def running(self, command: Sequence[str], folder: Path, port: str) -> Iterator[None]:
        """Run a program for as long as the block lasts, from when it listens at the port."""
        log = self.folder / "program.log"
        with log.open("wb") as said:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        try:
            eventually(lambda: process.poll() is not None or self._listens(port))
            assert process.poll() is None, log.read_text()
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _listens(self, port: str) -> bool:
        with suppress(OSError), create_connection(("localhost", int(self.ports[port])), 1):
            return True
        return False

    def token(
        self, client: str, headers: Mapping[str, str] | None = None, **form: str
    ) -> dict[str, str]:
        """The response of the token endpoint to a client of the demonstration."""
        credentials, url = (client, f"{client}-secret"), f"{self.issuer}/connect/token"
        answer = httpx2.post(url, data=form, auth=credentials, headers=headers)
        tokens: dict[str, str] = answer.raise_for_status().json()
        return tokens

    def document(self, issuer: str, name: str) -> dict[str, Any]:
        """A document that the issuer publishes."""
        found: dict[str, Any] = httpx2.get(f"{issuer}/.well-known/{name}").raise_for_status().json()
        return found
