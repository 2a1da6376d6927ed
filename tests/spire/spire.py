"""SPIRE's server, agent and OIDC discovery provider, and the workloads of one trust domain: processes of this user, as the Workload API attests them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.driving.process import REPOSITORY

TRUST_DOMAIN = "spiffe://example.org"
NODE = f"{TRUST_DOMAIN}/node"
SERVER, AGENT, DISCOVERY = (
    REPOSITORY / "build/bin" / name
    for name in ("spire-server", "spire-agent", "oidc-discovery-provider")
)
PATIENCE = 60
"""Seconds until a program of SPIRE's is ready, or knows what another one was told."""

# The key of JWT-SVIDs is another one after 50 seconds, because SPIRE replaces it when a sixth of `ca_ttl` is left.
SERVER_CONF = """\
server {{
    bind_address = "127.0.0.1"
    bind_port = {port}
    socket_path = "{folder}/server.sock"
    trust_domain = "example.org"
    data_dir = "{folder}"
    log_level = "WARN"
    ca_ttl = "1m"
    jwt_issuer = "https://localhost:{discovery_port}"
    federation {{
        bundle_endpoint {{
            address = "127.0.0.1"
            port = {bundle_port}
            profile "https_web" {{
                serving_cert_file {{
                    cert_file_path = "{certificate}"
                    key_file_path = "{certificate}"
                    file_sync_interval = "1h"
                }}
            }}
        }}
    }}
}}
plugins {{
    DataStore "sql" {{ plugin_data {{ database_type = "sqlite3" connection_string = "{folder}/data.sqlite3" }} }}
    NodeAttestor "join_token" {{ plugin_data {{}} }}
    KeyManager "memory" {{ plugin_data {{}} }}
}}
"""
AGENT_CONF = """\
agent {{
    data_dir = "{folder}/agent"
    log_level = "WARN"
    server_address = "127.0.0.1"
    server_port = {port}
    socket_path = "{folder}/agent.sock"
    trust_bundle_path = "{folder}/bundle.pem"
    trust_domain = "example.org"
}}
plugins {{
    NodeAttestor "join_token" {{ plugin_data {{}} }}
    KeyManager "memory" {{ plugin_data {{}} }}
    WorkloadAttestor "unix" {{ plugin_data {{}} }}
}}
"""
DISCOVERY_CONF = """\
log_level = "warn"
domains = ["localhost"]
serving_cert_file {{
    cert_file_path = "{certificate}"
    key_file_path = "{certificate}"
    addr = "127.0.0.1:{discovery_port}"
}}
server_api {{
    address = "unix://{folder}/server.sock"
    poll_interval = "1s"
}}
"""


@dataclass(frozen=True)
class Spire:
    """A running server with its agent and discovery provider."""

    folder: Path
    server: subprocess.Popen[bytes]
    discovery: subprocess.Popen[bytes]

    def manage(self, *command: str) -> Any:
        """The server's answer to one of its own commands."""
        return json.loads(self.command(*command, "-output", "json"))

    def command(self, *command: str) -> bytes:
        """Return the output of one of the server's commands."""
        return _run(SERVER, *command, "-socketPath", f"{self.folder}/server.sock")

    def register(self, path: str) -> None:
        """Make the processes of this user the workload with this path, besides others."""
        ids = ("-parentID", NODE, "-spiffeID", TRUST_DOMAIN + path)
        self.manage("entry", "create", *ids, "-selector", f"unix:uid:{os.getuid()}")

    def fetch(self, path: str, audience: str) -> str:
        """The JWT-SVID that the Workload API gives to a process on this machine, once the agent knows the workload."""
        wanted = ("-spiffeID", TRUST_DOMAIN + path, "-audience", audience)
        socket = ("-socketPath", f"{self.folder}/agent.sock")

        def ask() -> str:
            shown = _run(AGENT, "api", "fetch", "jwt", *wanted, *socket, "-output", "json")
            answer = json.loads(shown)
            return str(answer[0]["svids"][0]["svid"])

        token: str = _once_it_works(ask)
        return token


def _run(program: Path, *command: str) -> bytes:
    done = subprocess.run([program, *command], check=False, capture_output=True, timeout=PATIENCE)
    if done.returncode:
        raise ChildProcessError((done.stderr or done.stdout).decode())
    return done.stdout


def _once_it_works(ask: Callable[[], Any]) -> Any:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except ChildProcessError:
            if time.monotonic() > until:
                raise
            time.sleep(1)


@dataclass(frozen=True)
class Ports:
    """The address at which SPIRE listens for its agents, and publishes its keys as a trust bundle and by discovery."""

    server: int
    bundle: int
    discovery: int


@contextmanager
def spire_running(folder: Path, certificate: Path, ports: Ports) -> Iterator[Spire]:
    """SPIRE with no workload yet; both places of its keys show this certificate (profile https_web)."""
    values: Mapping[str, object] = {
        "folder": folder,
        "certificate": certificate,
        "port": ports.server,
        "bundle_port": ports.bundle,
        "discovery_port": ports.discovery,
    }
    files = {"server": SERVER_CONF, "agent": AGENT_CONF, "discovery": DISCOVERY_CONF}
    for name, text in files.items():
        (folder / f"{name}.conf").write_text(text.format_map(values))
    with (
        _program(SERVER, "run", "-config", f"{folder}/server.conf") as server,
        _program(DISCOVERY, "-config", f"{folder}/discovery.conf") as discovery,
    ):
        spire = Spire(folder, server, discovery)
        bundle = _once_it_works(lambda: spire.command("bundle", "show"))
        (folder / "bundle.pem").write_bytes(bundle)
        token = spire.manage("token", "generate", "-spiffeID", NODE)["value"]
        run = ("run", "-config", f"{folder}/agent.conf", "-joinToken", token)
        with _program(AGENT, *run):
            yield spire


@contextmanager
def _program(*command: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)
