"""Several workers are one service: one socket, one registry, one set of metrics, one end."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import httpx2
import pytest

from tests.driving.program import Program, eventually
from tests.driving.redis_servers import RedisServer
from tests.operations.conftest import ANOTHER_CLIENT, Serve, token_from

pytestmark = pytest.mark.needs("redis-server")


@pytest.fixture
def program(serve: Serve, on_redis: RedisServer) -> Program:
    """Two workers on a Redis."""
    on_redis.start()
    return serve("--workers", "2")


def test_the_metrics_are_those_of_all_workers(program: Program) -> None:
    url = program.url()
    for _ in range(20):
        assert token_from(url).status_code == 200
    counted = 'tokens_issued_total{grant_type="client_credentials"} 20.0'
    eventually(lambda: counted in httpx2.get(f"{url}/metrics").text)


def test_the_store_is_timed_by_all_workers(program: Program) -> None:
    url = program.url()
    eventually(lambda: _round_trips(url) > 4)  # each has looked for keys and for logouts
    before = _round_trips(url)
    eventually(lambda: _round_trips(url) > before)


def test_a_reload_reaches_every_worker(program: Program, config_file: Path) -> None:
    url = program.url()
    config_file.write_text(config_file.read_text().replace("clients:", "clients:" + ANOTHER_CLIENT))
    program.send(signal.SIGHUP)
    eventually(lambda: _knows_another(url))


def test_a_worker_that_comes_later_knows_what_was_reloaded(
    program: Program, config_file: Path
) -> None:
    url = program.url()
    eventually(lambda: len(_workers(program)) == 2)
    config_file.write_text(config_file.read_text().replace("clients:", "clients:" + ANOTHER_CLIENT))
    program.send(signal.SIGHUP)
    program.event("registry_reloaded")
    before = _workers(program)
    for worker in before:
        os.kill(worker, signal.SIGKILL)
    eventually(lambda: len(set(_workers(program)) - set(before)) == 2)
    eventually(lambda: _knows_another(url))


def test_a_worker_that_dies_is_replaced(program: Program) -> None:
    url = program.url()
    before = _workers(program)
    os.kill(before[0], signal.SIGKILL)
    eventually(lambda: len(_workers(program)) == 2 and _workers(program) != before)
    assert token_from(url).status_code == 200


def test_what_a_worker_has_counted_outlives_it(program: Program) -> None:
    url = program.url()
    for _ in range(20):
        assert token_from(url).status_code == 200
    before = _workers(program)
    for worker in before:
        os.kill(worker, signal.SIGQUIT)  # before anything is settled by itself
    eventually(lambda: len(set(_workers(program)) - set(before)) == 2)
    assert _counts(url)["token_service_tokens_issued_total"] == 20
    assert _counts(url)["token_service_signing_seconds_count"] == 20


def test_the_state_of_a_worker_that_ended_is_forgotten(program: Program, tmp_path: Path) -> None:
    program.url()
    worker = _workers(program)[0]
    eventually(lambda: any(tmp_path.rglob(f"gauge_livesum_{worker}.db")))
    os.kill(worker, signal.SIGKILL)
    eventually(lambda: not any(tmp_path.rglob(f"gauge_livesum_{worker}.db")))


def test_sigterm_drains_all_of_them(program: Program) -> None:
    url = program.url()
    program.send(signal.SIGTERM)
    program.wait_for("draining")
    assert token_from(url).status_code == 200
    assert program.ended() == 0


def test_no_file_is_left_behind(serve: Serve, on_redis: RedisServer, tmp_path: Path) -> None:
    on_redis.start()
    folder = tmp_path / "temporary"
    folder.mkdir()
    program = serve("--workers", "2", TMPDIR=str(folder))
    program.url()
    assert list(folder.iterdir())
    program.send(signal.SIGTERM)
    program.ended()
    assert not list(folder.iterdir())


def _knows_another(url: str) -> bool:
    """Whether all workers know the client; ten requests reach each."""
    another = ("another", "another-secret-of-32-characters")
    return {token_from(url, another).status_code for _ in range(10)} == {200}


def _counts(url: str) -> dict[str, float]:
    """What the metrics show, whatever the labels."""
    found = re.findall(r"^(\w+)(?:{.*})? (\S+)$", httpx2.get(f"{url}/metrics").text, re.MULTILINE)
    return {name: float(value) for name, value in found}


def _round_trips(url: str) -> float:
    shown = httpx2.get(f"{url}/metrics").text
    assert shown.count("\ntoken_service_store_waiting ") == 1
    return float(re.findall(r"^token_service_store_seconds_count (\S+)", shown, re.MULTILINE)[0])


def _workers(program: Program) -> list[int]:
    pid = program.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(each) for each in re.findall(r"\d+", children)]
