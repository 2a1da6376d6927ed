"""The address of a caller comes from a header only where a trusted proxy says so (RFC 7239)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from service.events.users import LoginFailed
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("7239#4", "7239#5.2", "7239#6")

Start = Callable[..., Awaitable[RunningService]]


@pytest.fixture
def config(request: pytest.FixtureRequest) -> dict[str, Any]:
    trusted = getattr(request, "param", ["127.0.0.0/8", "10.0.0.0/8", "2001:db8::/32"])
    return fresh_configuration() | {"server": {"trusted_proxies": trusted}}


@pytest.mark.parametrize("config", [[], ["192.0.2.1"]], indirect=True, ids=["none", "another"])
@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded"])
async def test_headers_of_an_untrusted_peer_are_ignored(
    service: RunningService, header: str
) -> None:
    assert await _seen(service, {header: "for=203.0.113.7, 203.0.113.7"}) == "127.0.0.1"


@pytest.mark.parametrize(
    ("forwarded_for", "address"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7:4711", "203.0.113.7"),
        ("2001:db9::7", "2001:db9::7"),
        ("[2001:db9::7]:4711", "2001:db9::7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("203.0.113.7, 10.0.0.1", "203.0.113.7"),
        ("198.51.100.1, 203.0.113.7, 10.0.0.1", "203.0.113.7"),
        ("nonsense, 10.0.0.1", "10.0.0.1"),
        ("", "127.0.0.1"),
        ("999.1.1.1", "127.0.0.1"),
    ],
)
async def test_the_nearest_untrusted_hop_is_the_caller(
    service: RunningService, forwarded_for: str, address: str
) -> None:
    assert await _seen(service, {"X-Forwarded-For": forwarded_for}) == address


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("for=203.0.113.7", "203.0.113.7"),
        ("For=203.0.113.7;proto=https;by=10.0.0.1", "203.0.113.7"),
        ('proto=https; for="203.0.113.7:4711"', "203.0.113.7"),
        ('for="[2001:db9::7]:4711"', "2001:db9::7"),
        ("for=198.51.100.1, for=203.0.113.7, for=10.0.0.1", "203.0.113.7"),
        ("for=unknown", "127.0.0.1"),
        ("for=_hidden, for=10.0.0.1", "10.0.0.1"),
        ("proto=https", "127.0.0.1"),
    ],
)
async def test_the_standard_header_is_understood(
    service: RunningService, forwarded: str, address: str
) -> None:
    assert await _seen(service, {"Forwarded": forwarded}) == address


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ('for="192.0.2.1, for=203.0.113.7', "203.0.113.7"),
        ('for=203.0.113.7;host="a, for=192.0.2.1;x"', "203.0.113.7"),
        (r'for=203.0.113.7;host="a\", for=192.0.2.1;x=\"b"', "127.0.0.1"),
        ('for=203.0.113.7;host=a", for=192.0.2.1', "192.0.2.1"),
        ("for=192.0.2.1, " + "for=10.0.0.1, " * 100 + "for=10.0.0.2", "10.0.0.1"),
    ],
    ids=["open quote", "quoted comma", "escaped quote", "older quote", "too many hops"],
)
async def test_the_standard_header_is_read_from_the_right(
    service: RunningService, forwarded: str, address: str
) -> None:
    assert await _seen(service, {"Forwarded": forwarded}) == address


BOTH = {"X-Forwarded-For": "192.0.2.1", "Forwarded": "for=203.0.113.7"}


async def test_headers_that_name_two_callers_are_both_ignored(
    service: RunningService, capfd: pytest.CaptureFixture[str]
) -> None:
    assert await _seen(service, BOTH) == "127.0.0.1"
    assert "server.forwarded_header" in "".join(capfd.readouterr())


async def test_two_headers_that_agree_are_used(service: RunningService) -> None:
    same = {"X-Forwarded-For": "203.0.113.7, 10.0.0.1", "Forwarded": "for=203.0.113.7"}
    assert await _seen(service, same) == "203.0.113.7"


@pytest.mark.parametrize(
    ("header", "address"), [("X-Forwarded-For", "192.0.2.1"), ("Forwarded", "203.0.113.7")]
)
async def test_only_the_configured_header_is_used(
    start: Start, config: dict[str, Any], header: str, address: str
) -> None:
    config["server"]["forwarded_header"] = header
    assert await _seen(await start(config), BOTH) == address


@pytest.mark.parametrize("config", [[]], indirect=True, ids=["none"])
async def test_a_forwarded_header_of_an_untrusted_peer_is_warned_of_once(
    service: RunningService, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        await _seen(service, {"X-Forwarded-For": "203.0.113.7"})
    assert "".join(capfd.readouterr()).count("forwarded headers are ignored") == 1


async def test_no_header_changes_the_issuer(service: RunningService) -> None:
    claimed = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    answer = await service.get("/.well-known/openid-configuration", headers=claimed)
    assert b"evil.example" not in answer.body


async def _seen(service: RunningService, headers: dict[str, str]) -> str:
    """The address that a failed login is noted with."""
    form = {"grant_type": "password", "username": "alice", "password": "wrong", "scope": "api1"}
    await service.post("/connect/token", auth="frontend", headers=headers, **form)
    return next(event.address for event in service.events if isinstance(event, LoginFailed))
