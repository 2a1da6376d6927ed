"""Several workers are one service: one socket, one registry, one set of metrics, one end."""

from __future__ import annotations

import os
import re
import signal
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path

import httpx2
import orjson
import pytest

from service.keys.jose import Key
from tests.driving.program import SECONDS, Program, eventually
from tests.driving.redis_servers import RedisServer
from tests.operations.conftest import ANOTHER_CLIENT, Serve, token_from, wait_for_all

pytestmark = pytest.mark.needs("redis-server")


RAISING = """
class Handler:
    grant_type = "urn:example:raising"

    def __init__(self, options, services):
        raise ValueError("it cannot be made")
"""
REGISTERED = """
extension_grants:
  - handler: raising:Handler
"""


@pytest.fixture
def program(serve: Serve, on_redis: RedisServer) -> Program:
    """Two workers on a Redis."""
    on_redis.start()
    return serve("--workers", "2")


def test_the_metrics_are_those_of_all_workers(program: Program) -> None:
    url = program.url()
    wait_for_all(url)
    counted = 'tokens_issued_total{grant_type="client_credentials"} 20.0'
    eventually(lambda: counted in httpx2.get(f"{url}/metrics").text)


def test_the_store_is_timed_by_all_workers(program: Program) -> None:
    url = program.url()
    eventually(lambda: _round_trips(url) > 4)  # each has looked for keys and for logouts
    before = _round_trips(url)
    eventually(lambda: _round_trips(url) > before)


def test_the_process_metrics_are_those_of_the_supervisor_and_its_workers(program: Program) -> None:
    url = program.url()
    wait_for_all(url)
    processes = [program.process.pid, *_workers(program)]
    shown = _counts(url)
    assert shown["process_resident_memory_bytes"] > 0.9 * sum(map(_resident_memory, processes))
    assert shown["process_open_fds"] >= max(map(_open_files, processes)) - 10


def test_the_cpu_seconds_of_a_worker_outlive_it(program: Program) -> None:
    url = program.url()
    for _ in range(200):
        token_from(url)
    before = _counts(url)["process_cpu_seconds_total"]
    for worker in _workers(program):
        os.kill(worker, signal.SIGKILL)
        program.wait_for("Booting worker")
    wait_for_all(url)
    assert _counts(url)["process_cpu_seconds_total"] >= before


def test_a_reload_reaches_every_worker(program: Program, config_file: Path) -> None:
    url = program.url()
    config_file.write_text(config_file.read_text().replace("clients:", "clients:" + ANOTHER_CLIENT))
    program.send(signal.SIGHUP)
    eventually(lambda: _knows_another(url))


def test_later_worker_has_the_reloaded_registry(program: Program, config_file: Path) -> None:
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


def test_counts_of_a_worker_outlive_it(program: Program) -> None:
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
    eventually(lambda: {"0", "1"} <= _written_by(tmp_path, "gauge_livesum"))
    with ExitStack() as opened:
        states = [
            opened.enter_context(path.open("rb")) for path in tmp_path.rglob("gauge_livesum_*.db")
        ]
        os.kill(_workers(program)[0], signal.SIGKILL)
        eventually(lambda: any(os.fstat(each.fileno()).st_nlink == 0 for each in states))


def test_workers_that_die_one_after_another_leave_no_more_files(
    program: Program, tmp_path: Path
) -> None:
    url = program.url()
    wait_for_all(url)
    eventually(lambda: {"0", "1"} <= _written_by(tmp_path, "counter"))
    before = _written_by(tmp_path, "counter")
    for _ in range(2):
        os.kill(_workers(program)[0], signal.SIGKILL)
        program.wait_for("Booting worker")
        wait_for_all(url)
    counted = _counts(url)["token_service_tokens_issued_total"]
    wait_for_all(url)
    eventually(lambda: _counts(url)["token_service_tokens_issued_total"] >= counted + 20)
    assert _written_by(tmp_path, "counter") == before


def test_callers_of_other_workers_do_not_notice_a_dead_one(program: Program) -> None:
    url = program.url()
    address = url.removeprefix("http://")
    eventually(lambda: len(_workers(program)) == 2)
    with ExitStack() as callers:
        kept = [
            callers.enter_context(closing(HTTPConnection(address, timeout=SECONDS)))
            for _ in range(20)
        ]
        assert {_status(each) for each in kept} == {200}
        victim, other = _workers(program)
        served = {port: worker for worker in (victim, other) for port in _callers_of(worker)}
        os.kill(victim, signal.SIGKILL)
        spared = [each for each in kept if served[each.sock.getsockname()[1]] == other]
        assert 0 < len(spared) < len(kept)
        assert {_status(each) for each in spared} == {200}
        assert {token_from(url).status_code for _ in range(20)} == {200}


def test_signal_before_a_worker_listens_is_not_lost(program: Program, config_file: Path) -> None:
    first = _booting(program)
    config_file.write_text(config_file.read_text().replace("clients:", "clients:" + ANOTHER_CLIENT))
    os.kill(first, signal.SIGHUP)
    os.kill(_booting(program), signal.SIGTERM)
    eventually(lambda: _has_written(program, "Worker exiting", "registry_reloaded"))
    assert not [line for line in program.lines if "was sent" in line]


def test_a_worker_that_cannot_start_ends_no_other(
    serve: Serve, on_redis: RedisServer, config_file: Path, tmp_path: Path
) -> None:
    on_redis.start()
    key = _signing_with_a_file(config_file, tmp_path)
    # Where spans are exported, each worker builds a service of its own, and can fail to.
    program = serve("--workers", "2", OTEL_TRACES_EXPORTER="console")
    url = program.url()
    wait_for_all(url)
    key.rename(tmp_path / "away")
    os.kill(_workers(program)[0], signal.SIGKILL)
    program.wait_for("exited with code")
    program.wait_for("exited with code")
    (tmp_path / "away").rename(key)
    program.wait_for("Booting worker")
    eventually(lambda: len(_workers(program)) == 2)
    assert token_from(url).status_code == 200


def test_worker_is_replaced_while_key_files_are_missing(
    serve: Serve, on_redis: RedisServer, config_file: Path, tmp_path: Path
) -> None:
    on_redis.start()
    key = _signing_with_a_file(config_file, tmp_path)
    program = serve("--workers", "2")
    url = program.url()
    wait_for_all(url)
    key.unlink()
    before = _workers(program)
    for worker in before:
        os.kill(worker, signal.SIGKILL)
    eventually(lambda: len(_workers(program)) == 2 and not set(_workers(program)) & set(before))
    wait_for_all(url)
    assert token_from(url).status_code == 200


def test_a_worker_is_replaced_after_a_reload_that_was_refused(
    serve: Serve, on_redis: RedisServer, config_file: Path, tmp_path: Path
) -> None:
    on_redis.start()
    program = serve("--workers", "2", PYTHONPATH=str(tmp_path))
    url = program.url()
    wait_for_all(url)
    (tmp_path / "raising.py").write_text(RAISING)
    config_file.write_text(config_file.read_text() + REGISTERED)
    program.send(signal.SIGHUP)
    program.event("registry_reload_refused")
    before = _workers(program)
    os.kill(before[0], signal.SIGKILL)
    eventually(lambda: len(_workers(program)) == 2 and _workers(program) != before)
    wait_for_all(url)


@pytest.mark.usefixtures("long_drain")
def test_sigterm_drains_all_workers(program: Program) -> None:
    url = program.url()
    program.send(signal.SIGTERM)
    program.wait_for("draining")
    assert token_from(url).status_code == 200
    assert program.ended() == 0


def test_a_worker_that_is_drained_alone_leaves_its_place_to_another(program: Program) -> None:
    url = program.url()
    eventually(lambda: len(_workers(program)) == 2)
    before = _workers(program)
    os.kill(before[0], signal.SIGTERM)
    eventually(lambda: len(set(_workers(program)) - set(before)) == 1)
    assert {token_from(url).status_code for _ in range(20)} == {200}


def test_workers_end_with_their_supervisor(program: Program) -> None:
    program.url()
    eventually(lambda: len(_workers(program)) == 2)
    workers = _workers(program)
    program.send(signal.SIGKILL)
    eventually(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


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


def _written_by(folder: Path, kind: str) -> set[str]:
    """Return the workers that have written files of metrics of this kind."""
    return {path.stem.rpartition("_")[2] for path in folder.rglob(f"{kind}_*.db")}


def _booting(program: Program) -> int:
    """The next worker that was forked."""
    return int(re.findall(r"pid: (\d+)", program.wait_for("Booting worker"))[0])


def _knows_another(url: str) -> bool:
    """Whether all workers know the client; ten requests reach each."""
    another = ("another", "another-secret-of-32-characters")
    return {token_from(url, another).status_code for _ in range(10)} == {200}


def _counts(url: str) -> dict[str, float]:
    """Return the sum of a metric over all labels."""
    found = re.findall(r"^(\w+)(?:{.*})? (\S+)$", httpx2.get(f"{url}/metrics").text, re.MULTILINE)
    return {name: float(value) for name, value in found}


def _round_trips(url: str) -> float:
    shown = httpx2.get(f"{url}/metrics").text
    assert shown.count("\ntoken_service_store_waiting ") == 1
    return float(re.findall(r"^token_service_store_seconds_count (\S+)", shown, re.MULTILINE)[0])


def _has_written(program: Program, *texts: str) -> bool:
    """Return whether it has written a line with each of the texts, in any order."""
    program.rest()
    return all(any(text in line for line in program.lines) for text in texts)


def _workers(program: Program) -> list[int]:
    pid = program.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(each) for each in re.findall(r"\d+", children)]


def _resident_memory(pid: int) -> int:
    """In bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def _open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def _status(connection: HTTPConnection) -> int:
    """The status of a request on this connection, which stays open."""
    connection.request("GET", "/.well-known/jwks.json")
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _callers_of(worker: int) -> set[int]:
    """The ports at the other end of a process's connections."""
    mine = {str(each.readlink()) for each in Path(f"/proc/{worker}/fd").iterdir()}
    connections = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return {
        int(each[2].partition(":")[2], 16) for each in connections if f"socket:[{each[9]}]" in mine
    }


def _signing_with_a_file(config_file: Path, tmp_path: Path) -> Path:
    """Let the service sign with the key in this file."""
    key = tmp_path / "key.jwk"
    key.write_bytes(orjson.dumps(Key.generate("ES256").private_jwk))
    signing = f"signing: {{algorithms: [ES256], source: files, keys: [{{path: {key}}}], "
    config_file.write_text(config_file.read_text().replace("signing: {", signing))
    return key
