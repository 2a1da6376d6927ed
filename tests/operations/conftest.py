"""The service as its operator has it: a process of its own, its output, and its signals."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from socket import create_server

import httpx2
import pytest

from tests.driving.program import Program, program_running
from tests.driving.redis_servers import RedisServer

CONFIG = """
issuer: http://localhost:8080
server:
  shutdown_grace: 2s
api_resources:
  - name: api1
clients:
  - client_id: machine
    client_secrets: [{value: machine-secret-of-32-characters}]
    allowed_grant_types: [client_credentials]
    allowed_scopes: [api1]
"""
MACHINE = ("machine", "machine-secret-of-32-characters")
ANOTHER_CLIENT = """
  - client_id: another
    client_secrets: [{value: another-secret-of-32-characters}]
    allowed_grant_types: [client_credentials]
    allowed_scopes: [api1]
"""


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """A configuration file, to be edited."""
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG)
    return path


@pytest.fixture
def long_drain(config_file: Path) -> None:
    """Time for what a test asks of a service that is about to stop, also on a busy machine."""
    slowly = "shutdown_grace: 20s\n  shutdown_linger: 5s"
    config_file.write_text(config_file.read_text().replace("shutdown_grace: 2s", slowly))


Serve = Callable[..., Program]


@pytest.fixture
def serve(config_file: Path) -> Iterator[Serve]:
    """Starts the program on a free port; it is stopped at the end."""
    with ExitStack() as programs:
        yield lambda *flags, **environ: programs.enter_context(
            program_running(config_file, flags, environ)
        )


@pytest.fixture
def free_port() -> int:
    with create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def token_from(url: str, client: tuple[str, str] = MACHINE) -> httpx2.Response:
    """Ask for a token of a machine's own."""
    return httpx2.post(
        f"{url}/connect/token", data={"grant_type": "client_credentials"}, auth=client
    )


def wait_for_all(url: str) -> None:
    """Until every worker serves: each gets some of the connections, which wait for it."""
    for _ in range(20):
        assert token_from(url).status_code == 200


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """Not started yet."""
    server = RedisServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def on_redis(config_file: Path, redis: RedisServer) -> RedisServer:
    """The configuration names the Redis, and what that needs."""
    key = base64.urlsafe_b64encode(bytes(32)).decode()
    store = f"store:\n  url: {redis.url}\n  timeout: 30s"
    config_file.write_text(
        f"{config_file.read_text()}\nsigning: {{encryption_key: {key}}}\n{store}\n"
    )
    return redis
