"""The files of examples/proxies pass the caller's own address, long requests and answers, and no operations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector

from tests.driving.program import Program, eventually
from tests.proxies.proxies import PROGRAMS, Site, site_running

pytestmark = pytest.mark.needs("redis-server", "nginx", "haproxy", "caddy", "import envoy")

FORGED = {
    "X-Forwarded-For": "192.0.2.1",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-Host": "elsewhere.example",
    "X-Real-IP": "192.0.2.1",
    "Forwarded": "for=192.0.2.1",
}
CALLER = "127.0.0.2"
"""Another address than the proxy's."""
LONG_STATE = "s" * 30_000


@pytest.fixture(params=PROGRAMS)
def site(request: pytest.FixtureRequest, tmp_path: Path, whole: dict[str, Any]) -> Iterator[Site]:
    with site_running(request.param, tmp_path, whole) as site:
        yield site


async def test_the_callers_address_counts_long_states_pass_and_operations_do_not(
    site: Site,
) -> None:
    connector = TCPConnector(ssl=site.trust, local_addr=(CALLER, 0))
    async with ClientSession(connector=connector, headers=FORGED, max_field_size=65536) as http:
        form = {"grant_type": "password", "username": "alice", "password": "wrong"}
        form |= {"client_id": "frontend", "client_secret": "frontend-secret"}
        async with http.post(f"{site.url}/connect/token", data=form) as answer:
            assert (await answer.json())["error"] == "invalid_grant"
        asked = {
            "client_id": "web",
            "redirect_uri": "https://web.example/callback",
            "response_type": "code",
            "scope": "openid",
            "code_challenge": "c" * 43,
            "code_challenge_method": "S256",
            "prompt": "none",
            "state": LONG_STATE,
        }
        url = f"{site.url}/connect/authorize"
        async with http.get(url, params=asked, allow_redirects=False) as answer:
            location = answer.headers["Location"]
            assert "error=login_required" in location
            assert LONG_STATE in location
        async with http.get(f"{site.url}/account/login", allow_redirects=False) as answer:
            assert "elsewhere.example" not in await answer.text()
    eventually(lambda: [*_addresses(site.replicas)] == [CALLER])
    for operation in ("/health/live", "/health/ready", "/metrics"):
        assert not site.get(operation).is_success


def _addresses(replicas: list[Program]) -> Iterator[object]:
    """Yield the addresses of failed logins."""
    for replica in replicas:
        replica.rest()
        for line in replica.lines:
            if '"event":"login_failed"' in line:
                yield json.loads(line)["address"]
