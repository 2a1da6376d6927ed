"""SIGTERM: readiness turns red, what runs is finished, and no caller sees a broken connection."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.driving.program import SECONDS, eventually, wait_until_read
from tests.driving.redis_servers import RedisServer
from tests.operations.conftest import MACHINE, Serve, token_from

BODY = b"grant_type=client_credentials&client_id=%s&client_secret=%s" % tuple(
    part.encode() for part in MACHINE
)
HEAD = (
    b"POST /connect/token HTTP/1.1\r\nHost: x\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n" % len(BODY)
)


@pytest.mark.usefixtures("long_drain")
def test_readiness_turns_red_while_requests_are_served(serve: Serve) -> None:
    program = serve()
    url = program.url()
    program.send(signal.SIGTERM)
    program.wait_for("draining")
    ready = httpx2.get(f"{url}/health/ready")
    assert ready.status_code == 503
    assert ready.json()["reasons"] == ["draining: the process is about to stop"]
    assert token_from(url).headers["Connection"] == "close"
    assert program.ended() == 0


@pytest.mark.usefixtures("long_drain")
def test_liveness_stays_green(serve: Serve) -> None:
    program = serve()
    url = program.url()
    program.send(signal.SIGTERM)
    program.wait_for("draining")
    assert httpx2.get(f"{url}/health/live").status_code == 200


def test_a_request_that_runs_is_finished(serve: Serve, config_file: Path) -> None:
    slowly = "shutdown_grace: 100s\n  shutdown_linger: 0s"
    config_file.write_text(config_file.read_text().replace("shutdown_grace: 2s", slowly))
    program = serve()
    url = urlsplit(program.url())
    with socket.create_connection((url.hostname, url.port), timeout=SECONDS) as connection:
        connection.sendall(HEAD + BODY[:10])
        program.send(signal.SIGTERM)
        program.wait_for("draining")
        time.sleep(1)  # longer than it serves on: it listens no more
        connection.sendall(BODY[10:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    assert program.ended() == 0


@pytest.mark.usefixtures("long_drain")
def test_open_connections_are_not_reset(serve: Serve) -> None:
    program = serve()
    url = urlsplit(program.url())
    program.send(signal.SIGSTOP)  # so that all of them wait to be accepted
    with ExitStack() as callers:
        made = [
            callers.enter_context(
                socket.create_connection((url.hostname, url.port), timeout=SECONDS)
            )
            for _ in range(50)
        ]
        for each in made:
            each.sendall(HEAD + BODY)
        program.send(signal.SIGINT)
        program.send(signal.SIGCONT)
        assert all(each.recv(65536).startswith(b"HTTP/1.1 200") for each in made)
    assert program.ended() == 0


def test_request_that_never_ends_does_not_delay_the_stop(serve: Serve) -> None:
    program = serve()
    url = urlsplit(program.url())
    with socket.create_connection((url.hostname, url.port), timeout=SECONDS) as connection:
        connection.sendall(HEAD + BODY[:10])
        wait_until_read(connection)
        program.send(signal.SIGTERM)
        program.wait_for("cut off")
        assert program.ended() == 0
    assert not [line for line in program.rest() if "not everything" in line]


HANGING = """
import asyncio
class Grant:
    grant_type = "urn:example:hanging"
    def __init__(self, options, services): pass
    async def handle(self, request):
        print("hangs", flush=True)
        await asyncio.Event().wait()
"""


@pytest.mark.rfc("9110#15.6.4")
@pytest.mark.parametrize("pieces", [1, 2], ids=["whole", "in pieces"])
def test_request_that_still_runs_when_the_grace_is_over_gets_an_end(
    serve: Serve, config_file: Path, tmp_path: Path, pieces: int
) -> None:
    (tmp_path / "hanging.py").write_text(HANGING)
    text = config_file.read_text().replace("[client_credentials]", '["urn:example:hanging"]')
    grant = "extension_grants: [{handler: 'hanging:Grant', timeout: 60s}]\n"
    config_file.write_text(text + grant)
    program = serve(PYTHONPATH=str(tmp_path))
    url = urlsplit(program.url())
    body = BODY.replace(b"client_credentials", b"urn:example:hanging") + b"&scope=api1"
    sent = HEAD.replace(b"%d" % len(BODY), b"%d" % len(body)) + body
    with socket.create_connection((url.hostname, url.port), timeout=SECONDS) as connection:
        connection.sendall(sent[: len(sent) // pieces])
        wait_until_read(connection)
        connection.sendall(sent[len(sent) // pieces :])
        wait_until_read(connection)
        program.send(signal.SIGTERM)
        program.wait_for("cut off")
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 503 ") if pieces == 1 else not answer
    assert program.ended() == 0


def test_interrupt_stops_the_service_at_once(serve: Serve, config_file: Path) -> None:
    endless = "shutdown_grace: 1h\n  shutdown_linger: 30m"
    config_file.write_text(config_file.read_text().replace("shutdown_grace: 2s", endless))
    program = serve()
    program.url()
    program.send(signal.SIGINT)
    assert program.ended() == 0  # SIGTERM would have it serve on for half an hour


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.needs("redis-server")
def test_a_stop_does_not_wait_for_a_reload(
    serve: Serve, on_redis: RedisServer, config_file: Path, tmp_path: Path, workers: str
) -> None:
    on_redis.start()
    held, waits = tmp_path / "held", tmp_path / "waits"
    os.mkfifo(held)
    text = (
        f"from pathlib import Path; Path({str(waits)!r}).touch(); Path({str(held)!r}).read_text()"
    )
    (tmp_path / "slow.py").write_text(text)
    program = serve("--workers", workers, PYTHONPATH=str(tmp_path))
    program.url()
    config_file.write_text(
        f"{config_file.read_text()}\nextension_grants: [{{handler: 'slow:Grant'}}]\n"
    )
    program.send(signal.SIGHUP)
    eventually(waits.exists)
    program.send(signal.SIGINT)
    assert program.process.wait(SECONDS) == 0
    with held.open("wb"):
        pass  # what the reader waits for
    assert not [line for line in program.rest() if "Traceback" in line]
