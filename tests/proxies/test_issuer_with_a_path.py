"""An issuer with a path works whether the proxy leaves the path on requests or takes it off (RFC 8414 §3.1, RFC 9449 §4.3)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from http.client import NOT_FOUND
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, DummyCookieJar, TCPConnector
from yarl import URL

from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService
from tests.proxies.proxies import PROGRAMS, Site, site_running
from tests.scale.load import WORKS

pytestmark = [
    pytest.mark.rfc("8414#3.1", "9449#4.3"),
    pytest.mark.needs("redis-server", "nginx", "haproxy", "caddy", "import envoy"),
]

KEPT: dict[str, str] = {}
TAKEN_OFF = {
    "nginx.conf": {
        "location /": "location /auth/",
        "/metrics": "/auth/metrics",
        "proxy_pass http://token_service;": "proxy_pass http://token_service/;",
    },
    "haproxy.cfg": {
        "  http-request deny": "  http-request replace-path ^/auth(/.*) \\1\n  http-request deny"
    },
    "Caddyfile": {"\t@internal": "\turi strip_prefix /auth\n\t@internal"},
    "envoy.yaml": {
        "prefix: /}": "prefix: /auth/}",
        "match: {prefix: /health/": "match: {prefix: /auth/health/",
        "path: /metrics": "path: /auth/metrics",
        "cluster: token_service\n     ": "cluster: token_service\n                            prefix_rewrite: /\n     ",
    },
    "traefik.yaml": {
        "Host(`auth.example.com`)": "Host(`auth.example.com`) && PathPrefix(`/auth/`)",
        "!PathPrefix(`/health/": "!PathPrefix(`/auth/health/",
        "Path(`/metrics": "Path(`/auth/metrics",
        "[ask_again]": "[ask_again, take_off]",
        "\n  middlewares:\n": "\n  middlewares:\n    take_off: {stripPrefix: {prefixes: [/auth]}}\n",
    },
}
"""As docs/proxies.md says."""


@pytest.fixture(params=["kept", "taken off"])
def path(request: pytest.FixtureRequest) -> str:
    """The proxy's treatment of the path."""
    return str(request.param)


@pytest.fixture(params=PROGRAMS)
def site(
    request: pytest.FixtureRequest, path: str, tmp_path: Path, whole: dict[str, Any]
) -> Iterator[Site]:
    changes = KEPT if path == "kept" else TAKEN_OFF[request.param]
    with site_running(request.param, tmp_path, whole, path="/auth", changes=changes) as site:
        yield site


async def assert_links_lead_somewhere(site: Site, http: ClientSession) -> None:
    """All links of the login page are below the issuer, its style sheet and its form too."""
    async with http.get(f"{site.issuer}/account") as answer:
        assert str(answer.url).startswith(f"{site.issuer}/account/login")
        links = re.findall(r'(?:href|src|action)="([^"#]+)"', await answer.text())
        found = [answer.url.join(URL(html.unescape(link))) for link in links]
    assert found
    for url in found:
        assert str(url).startswith(f"{site.issuer}/")
        async with http.get(url) as answer:
            assert answer.status != NOT_FOUND, url


async def test_whole_flows_work_below_the_path_of_the_issuer(site: Site) -> None:
    connector = TCPConnector(ssl=site.trust)
    async with ClientSession(cookie_jar=DummyCookieJar(), connector=connector) as http:
        service = RunningService(issuer=site.issuer, http=http, features=None)  # type: ignore[arg-type]
        for work in WORKS:
            await work(service)
        form = {"grant_type": "client_credentials", "scope": "api1"}
        proof = DpopKey(site.issuer).header()
        answer = await service.post("/connect/token", auth="machine", headers=proof, **form)
        assert answer["token_type"] == "DPoP"
        await assert_links_lead_somewhere(site, http)
    for operation in ("health/ready", "metrics"):
        for base in ("/", "/auth/"):
            assert not site.get(base + operation).is_success
