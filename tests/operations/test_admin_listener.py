"""The admin listener has a port of its own, over TLS of its own, with several workers, and until the process ends."""

from __future__ import annotations

import signal
import ssl
from contextlib import closing
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.driving.certificate import certified
from tests.driving.program import Program, eventually
from tests.driving.redis_servers import RedisServer
from tests.operations.conftest import CONFIG, MACHINE, Serve

HOST = "admin.localhost"


@pytest.fixture
def at(config_file: Path, free_port: int) -> str:
    """The admin API is at this URL, and the machine may use it."""
    url = f"http://{HOST}:{free_port}"
    _configure(config_file, f"{{port: {free_port}, url: '{url}'}}")
    return url


def _configure(config_file: Path, admin: str) -> None:
    text = CONFIG.replace("allowed_scopes: [api1]", "allowed_scopes: [api1, admin.read]")
    config_file.write_text(f"{text}\nadmin: {admin}\n")


def _token(program: Program) -> tuple[str, str]:
    """Return the URL of the service, and a token for the admin API."""
    url = program.url()
    form = {"grant_type": "client_credentials", "scope": "admin.read"}
    return url, httpx2.post(f"{url}/connect/token", data=form, auth=MACHINE).json()["access_token"]


def _registry(at: str, token: str) -> httpx2.Response:
    """Ask 127.0.0.1 by the name of the admin API."""
    port = at.rpartition(":")[2]
    headers = {"Authorization": f"Bearer {token}", "Host": f"{HOST}:{port}"}
    return httpx2.get(f"http://127.0.0.1:{port}/admin/registry", headers=headers)


def test_admin_api_is_at_its_port_alone(serve: Serve, at: str) -> None:
    url, token = _token(serve())
    assert _registry(at, token).status_code == 200
    headers = {"Authorization": f"Bearer {token}", "Host": at.removeprefix("http://")}
    assert httpx2.get(f"{url}/admin/registry", headers=headers).status_code == 404


def test_start_says_where_it_listens(serve: Serve, at: str) -> None:
    port = at.rpartition(":")[2]
    assert serve().wait_for(f"the admin API is listening on http://127.0.0.1:{port}")


def test_health_and_metrics_are_not_there(serve: Serve, at: str) -> None:
    serve().url()
    port = at.rpartition(":")[2]
    for path in ("/health/live", "/metrics"):
        found = httpx2.get(f"http://127.0.0.1:{port}{path}", headers={"Host": f"{HOST}:{port}"})
        assert found.status_code == 404


def test_admin_api_listens_at_its_own_host(serve: Serve, at: str) -> None:
    program = serve("--host", "::1,127.0.0.1")
    urls = [program.url() for _ in range(2)]
    form = {"grant_type": "client_credentials", "scope": "admin.read"}
    token = httpx2.post(f"{urls[0]}/connect/token", data=form, auth=MACHINE).json()["access_token"]
    assert _registry(at, token).status_code == 200


@pytest.mark.needs("redis-server")
def test_every_worker_serves_it(serve: Serve, at: str, on_redis: RedisServer) -> None:
    on_redis.start()
    _, token = _token(serve("--workers", "2"))
    assert {_registry(at, token).status_code for _ in range(20)} == {200}


@pytest.mark.usefixtures("at")
def test_port_that_is_taken_is_named(serve: Serve) -> None:
    serve().url()
    assert serve().wait_for("cannot listen on 127.0.0.1")


def test_tls_of_its_own_is_read_again_at_a_reload(
    serve: Serve, config_file: Path, free_port: int, tmp_path: Path
) -> None:
    file = certified(tmp_path)
    tls = f"{{certificate: {file}, private_key: {file}}}"
    url = f"https://{HOST}:{free_port}"
    _configure(config_file, f"{{port: {free_port}, url: '{url}', tls: {tls}}}")
    program = serve()
    public, _ = _token(program)
    assert public.startswith("http:")
    before = _certificate(free_port)
    certified(tmp_path)
    program.send(signal.SIGHUP)
    eventually(lambda: _certificate(free_port) != before)


def _certificate(port: int) -> Any:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with closing(HTTPSConnection("127.0.0.1", port, context=context)) as connection:
        connection.connect()
        assert isinstance(connection.sock, ssl.SSLSocket)
        return connection.sock.getpeercert(binary_form=True)
