"""`serve` starts with its settings, prints where it listens, and prints why it cannot start."""

from __future__ import annotations

import signal
import socket
import ssl
import subprocess
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from service.web.server.connections import MAX_UNFINISHED_HEADS
from tests.driving.program import eventually
from tests.driving.redis_servers import RedisServer
from tests.operations.conftest import CONFIG, Serve, token_from

needs_redis = pytest.mark.needs("redis-server")


def test_serve_prints_where_it_listens(serve: Serve) -> None:
    assert token_from(serve().url()).status_code == 200


def test_the_environment_beats_the_file(serve: Serve) -> None:
    assert "127.0.0.2" in serve(SERVICE_HOST="127.0.0.2").url()


def test_a_flag_beats_the_environment(serve: Serve) -> None:
    assert "127.0.0.3" in serve("--host", "127.0.0.3", SERVICE_HOST="127.0.0.2").url()


def test_a_wrong_file_is_shown_with_its_place(serve: Serve, config_file: Path) -> None:
    config_file.write_text(f"{CONFIG}\nsesion: {{}}\n")
    program = serve()
    program.wait_for(f"{config_file}:13:1: error: sesion")
    assert program.ended() == 1


def test_mistake_in_a_named_file_is_shown_with_its_place(
    serve: Serve, config_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.pem").write_text("none")
    tls = "tls: {certificate: own.pem, private_key: own.pem}"
    config_file.write_text(CONFIG.replace("server:", f"server:\n  {tls}"))
    program = serve()
    program.wait_for(f"{config_file}:4:22: error: server.tls.certificate: {tmp_path}")
    assert program.ended() == 1


def test_memory_with_several_workers_is_refused(serve: Serve) -> None:
    program = serve("--workers", "2")
    program.wait_for("memory:// belongs to one process")
    assert program.ended() == 1


def test_handler_that_cannot_be_made_is_reported_plainly(serve: Serve, config_file: Path) -> None:
    config_file.write_text(f"{CONFIG}\nextension_grants: [{{handler: 'json:JSONDecoder'}}]\n")
    program = serve()
    program.wait_for("json:JSONDecoder")
    assert program.ended() == 1
    assert not [line for line in program.lines if "Traceback" in line]


def test_port_in_use_is_reported_plainly(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        program = serve("--port", str(taken.getsockname()[1]))
        said = program.wait_for("Error: cannot listen on 127.0.0.1")
        assert "--port" in said
    assert program.ended() == 1


def test_embedded_store_is_warned_of(serve: Serve) -> None:
    serve().wait_for("memory:// is for trying out")


@needs_redis
def test_a_redis_that_may_evict_is_warned_of(serve: Serve, on_redis: RedisServer) -> None:
    on_redis.start("--maxmemory-policy", "allkeys-lru")
    serve().wait_for('"maxmemory_policy":"allkeys-lru"')


@needs_redis
def test_start_waits_for_an_unavailable_store(serve: Serve, on_redis: RedisServer) -> None:
    url = serve().url()
    assert httpx2.get(f"{url}/health/ready").status_code == 503
    on_redis.start()
    eventually(lambda: httpx2.get(f"{url}/health/ready").status_code == 200)
    assert token_from(url).status_code == 200


def test_a_management_port_has_health_and_metrics_to_itself(
    serve: Serve, config_file: Path, free_port: int
) -> None:
    config_file.write_text(CONFIG.replace("server:", f"server:\n  management_port: {free_port}"))
    url, management = serve().url(), f"http://127.0.0.1:{free_port}"
    for path in ("/health/live", "/health/ready", "/metrics"):
        assert httpx2.get(url + path).status_code == 404
        assert httpx2.get(management + path).status_code == 200


@pytest.mark.needs("openssl")
def test_serve_speaks_tls_when_it_has_a_certificate(
    serve: Serve, config_file: Path, tmp_path: Path
) -> None:
    _speak_tls(config_file)
    url = serve().url()
    assert url.startswith("https://")
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    assert httpx2.get(f"{url}/health/live", verify=trusting).status_code == 200


@pytest.mark.needs("openssl")
def test_handshakes_that_do_not_end_are_bounded(
    serve: Serve, config_file: Path, tmp_path: Path
) -> None:
    _speak_tls(config_file)
    program = serve()
    url = urlsplit(program.url())
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with ExitStack() as callers:
        silent = [
            callers.enter_context(socket.create_connection((url.hostname, url.port), timeout=120))
            for _ in range(MAX_UNFINISHED_HEADS + 1)
        ]
        assert silent[0].recv(1) == b""
        assert "too_many_heads" in program.wait_for("connections dropped")
        assert httpx2.get(f"{url.geturl()}/health/live", verify=trusting).status_code == 200


@pytest.mark.needs("openssl")
def test_plain_http_at_a_tls_port_is_disconnected(serve: Serve, config_file: Path) -> None:
    _speak_tls(config_file)
    url = urlsplit(serve().url())
    with socket.create_connection((url.hostname, url.port), timeout=120) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert not connection.recv(65536).startswith(b"HTTP")


@pytest.mark.needs("openssl")
def test_a_reload_takes_the_new_certificate(
    serve: Serve, config_file: Path, tmp_path: Path
) -> None:
    _speak_tls(config_file)
    program = serve()
    address = urlsplit(program.url())
    _certificate(tmp_path)
    program.send(signal.SIGHUP)
    shown = (address.hostname or "", address.port or 0)
    renewed = (tmp_path / "cert.pem").read_text()
    eventually(lambda: ssl.get_server_certificate(shown) == renewed)


def _speak_tls(config_file: Path) -> None:
    """Configure a certificate in the folder of the file."""
    _certificate(config_file.parent)
    tls = "tls: {certificate: cert.pem, private_key: key.pem}"
    config_file.write_text(CONFIG.replace("server:", f"server:\n  {tls}"))


def _certificate(folder: Path) -> None:
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", "key.pem", "-out", "cert.pem"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    subprocess.run(
        [*command, "-nodes", "-days", "1", *subject, *files],
        cwd=folder,
        check=True,
        capture_output=True,
    )
