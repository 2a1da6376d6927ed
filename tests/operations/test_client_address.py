"""The address of a caller comes from a header only where a trusted proxy says so (RFC 7239)."""

from __future__ import annotations

from typing import Any

import pytest

from service.model.events import LoginFailed
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("7239#5.2", "7239#6")


@pytest.fixture
def config(request: pytest.FixtureRequest) -> dict[str, Any]:
    trusted = getattr(request, "param", ["127.0.0.0/8", "10.0.0.0/8", "2001:db8::/32"])
    return fresh_configuration() | {"server": {"trusted_proxies": trusted}}


@pytest.mark.parametrize("config", [[], ["192.0.2.1"]], indirect=True, ids=["none", "another"])
@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded"])
async def test_no_header_counts_from_a_stranger(service: RunningService, header: str) -> None:
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


async def test_no_header_changes_the_issuer(service: RunningService) -> None:
    claimed = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    answer = await service.get("/.well-known/openid-configuration", headers=claimed)
    assert b"evil.example" not in answer.body


async def _seen(service: RunningService, headers: dict[str, str]) -> str:
    """The address that a failed login is noted with."""
    form = {"grant_type": "password", "username": "alice", "password": "wrong", "scope": "api1"}
    await service.post("/connect/token", auth="frontend", headers=headers, **form)
    return next(event.address for event in service.events if isinstance(event, LoginFailed))
