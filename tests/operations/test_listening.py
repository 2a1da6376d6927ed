"""One service listens at several addresses, of IPv4 and IPv6."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from service.web.server import listening
from tests.driving.program import Program
from tests.operations.conftest import CONFIG, Serve, token_from

FOUR, SIX = "127.0.0.1", "[::1]"
EVERYWHERE_IPV4 = "0.0.0.0"  # noqa: S104


@pytest.fixture
def free_port() -> int:
    """A port that is free for IPv4 and IPv6."""
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listening:
        port: int = listening.getsockname()[1]
    return port


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.usefixtures("on_redis")
def test_two_colons_are_ipv6_and_ipv4(serve: Serve, redis: Any, workers: str) -> None:
    redis.start()
    port = urlsplit(serve("--host", "::", "--workers", workers).url()).port
    for _ in range(10):
        for host in (FOUR, SIX):
            assert token_from(f"http://{host}:{port}").status_code == 200


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.usefixtures("on_redis")
def test_each_host_of_a_list_is_listened_at_by_its_url(
    serve: Serve, redis: Any, config_file: Path, free_port: int, workers: str
) -> None:
    redis.start()
    hosts = f"server:\n  management_port: {free_port}\n  host: [127.0.0.2, '::1']"
    config_file.write_text(config_file.read_text().replace("server:", hosts))
    first, second = _urls(serve("--workers", workers), 2)
    assert (urlsplit(first).hostname, urlsplit(second).hostname) == ("127.0.0.2", "::1")
    assert urlsplit(first).port == urlsplit(second).port
    for url in (first, second):
        assert token_from(url).status_code == 200
        assert httpx2.get(f"{url}/metrics").status_code == 404
    for host in ("127.0.0.2", SIX):
        assert httpx2.get(f"http://{host}:{free_port}/metrics").status_code == 200
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"http://{FOUR}:{free_port}/metrics")


def test_a_variable_names_several_hosts(serve: Serve) -> None:
    first, second = _urls(serve(SERVICE_HOST="127.0.0.2, ::1"), 2)
    assert token_from(first).status_code == token_from(second).status_code == 200


def test_both_families_may_be_listed(serve: Serve) -> None:
    first, _ = _urls(serve("--host", f"{EVERYWHERE_IPV4},::"), 2)
    port = urlsplit(first).port
    for host in (FOUR, SIX):
        assert token_from(f"http://{host}:{port}").status_code == 200


def test_management_port_is_at_all_addresses(
    serve: Serve, config_file: Path, free_port: int
) -> None:
    config_file.write_text(CONFIG.replace("server:", f"server:\n  management_port: {free_port}"))
    serve("--host", "::").url()
    for host in (FOUR, SIX):
        assert httpx2.get(f"http://{host}:{free_port}/health/live").status_code == 200


@pytest.mark.parametrize("hosts", [["::"], ["::", EVERYWHERE_IPV4], [EVERYWHERE_IPV4, "::"]])
def test_a_machine_without_ipv6_serves_ipv4(
    monkeypatch: pytest.MonkeyPatch, hosts: Sequence[str]
) -> None:
    monkeypatch.setattr(listening, "_has_ipv6", lambda: False)
    ((opened,),) = listening.listen([(hosts, 0)], workers=1)
    with opened:
        assert opened.family is socket.AF_INET
        socket.create_connection((FOUR, opened.getsockname()[1])).close()


def test_address_of_a_caller_by_ipv4_is_that_of_ipv4(serve: Serve, config_file: Path) -> None:
    config_file.write_text(config_file.read_text().replace("server:", "server:\n  host: '::'"))
    program = serve("--log-level", "info")
    port = urlsplit(program.url()).port
    token_from(f"http://{FOUR}:{port}", ("machine", "wrong"))
    assert "::ffff" not in program.wait_for("invalid_client")


def test_host_that_is_not_of_this_machine_is_named(serve: Serve) -> None:
    program = serve("--host", "127.0.0.1,192.0.2.1")
    assert program.wait_for("cannot listen on 192.0.2.1")


def _urls(program: Program, number: int) -> list[str]:
    return [program.url() for _ in range(number)]
