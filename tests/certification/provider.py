"""The service as config.conformance.yaml describes it, running in front of the suite's site."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from aiohttp import ClientSession, DummyCookieJar, web

from service.app import create_app
from service.start.load import load
from service.web.server.server import Runner
from tests.certification.suite_site import SuiteSite
from tests.driving.registry import password_of
from tests.driving.service import Answer, RunningService

CONFIGURATION = Path(__file__).parents[2] / "config.conformance.yaml"
PASSWORD_HASH: str = yaml.safe_load(CONFIGURATION.read_text())["users"]["list"][0]["password"]
ISSUER = "https://provider.test"
"""What is published; a proxy that ends TLS is taken as read."""
ALIAS = "/test/a/token-service"
"""Below which the suite's pages are, whatever the module."""


@dataclass(frozen=True, kw_only=True)
class Provider:
    """The OpenID provider under test, and what it publishes of itself."""

    service: RunningService
    suite: SuiteSite
    metadata: dict[str, Any]

    @property
    def redirect_uri(self) -> str:
        """The suite's callback."""
        return f"{self.suite.base}{ALIAS}/callback"

    def path(self, name: str) -> str:
        """The URL of a published endpoint."""
        published = str(self.metadata[name])
        assert published.startswith(ISSUER + "/"), f"{name} is {published}"
        return published.removeprefix(ISSUER)

    async def jwks(self) -> dict[str, Any]:
        """The published keys."""
        return (await self.service.get(self.path("jwks_uri"))).json

    async def userinfo(self, access_token: str, method: str = "GET") -> Answer:
        """The claims for the bearer of a token (OIDC Core §5.3.1)."""
        headers = {"Authorization": f"Bearer {access_token}"}
        return await self.service.request(method, self.path("userinfo_endpoint"), headers=headers)


UNLIMITED = "limits:\n  parked_requests_per_minute: null\n"
"""A fast machine sends more than a suite does in a minute, all from one address."""


@asynccontextmanager
async def providing(store_url: str, folder: Path, suite: SuiteSite) -> AsyncIterator[Provider]:
    """Run it: where it is, where the suite is, what it trusts, what a password costs and a limit differ from the file."""
    file = folder / "config.yaml"
    text = CONFIGURATION.read_text().replace("# ca_file:", "ca_file:")
    text = text.replace(PASSWORD_HASH, password_of("alice"))
    file.write_text(text + UNLIMITED)
    environ = {"ISSUER": ISSUER, "SUITE": suite.base, "STORE_URL": store_url}
    environ["MTLS_CLIENT_CA"] = str(
        CONFIGURATION.parent / "tests/certification/fapi2/authority.crt"
    )
    events: list[object] = []
    made = create_app(load(file, environ), events.append, environ={})
    runner = Runner(made.app, shutdown_timeout=1)
    await runner.setup()
    listening = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listening).start()
    address = f"http://localhost:{listening.getsockname()[1]}"
    async with ClientSession(cookie_jar=DummyCookieJar()) as http:
        service = RunningService(issuer=address, http=http, features=made.features, events=events)
        metadata = (await service.get("/.well-known/openid-configuration")).json
        yield Provider(service=service, suite=suite, metadata=metadata)
    await runner.cleanup()
