"""The service's own TLS takes the client's certificate from the connection, in both lanes (RFC 8705 §3)."""

from __future__ import annotations

import json
import ssl
from base64 import b64decode
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from socket import create_server
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector

from service.app import create_app
from service.config.convert import convert
from service.config.schema.server import Tls
from service.keys.jose import unverified_claims
from service.protocol.octets import base64url
from service.start.load import load
from service.web.server.accepting import ServerTls
from service.web.server.server import Runner
from tests.conftest import ENCRYPTION_KEY
from tests.driving.certificate import certified
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("8705#3")


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    """The certificate of the service and of the client, which is its own authority."""
    return certified(tmp_path)


@pytest.fixture
async def service(
    config: dict[str, Any], pem: Path, tmp_path: Path
) -> AsyncIterator[RunningService]:
    socket = create_server(("127.0.0.1", 0))
    issuer = f"https://localhost:{socket.getsockname()[1]}"
    config |= {"issuer": issuer, "store": {"url": "memory://"}}
    config["signing"].setdefault("encryption_key", ENCRYPTION_KEY)
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps(config))
    made = create_app(load(file, {}), environ={})
    runner = Runner(made.app, shutdown_timeout=1)
    await runner.setup()
    tls = convert(dict.fromkeys(("certificate", "private_key", "client_ca"), str(pem)), Tls)
    await runner.listen(socket, ServerTls(tls, asks_for_certificates=True))
    context = ssl.create_default_context(cafile=str(pem))
    context.load_cert_chain(pem)
    async with ClientSession(connector=TCPConnector(ssl=context)) as http:
        yield RunningService(issuer=issuer, http=http, features=made.features)
    await runner.finish()
    await runner.cleanup()
    socket.close()


@pytest.fixture
def thumbprint(pem: Path) -> str:
    encoded = pem.read_text().partition("-----BEGIN CERTIFICATE-----")[2].partition("-----END")[0]
    return base64url(sha256(b64decode(encoded)).digest())


async def userinfo(service: RunningService, thumbprint: str, **headers: str) -> int:
    """Return the status for a token that is bound to this certificate."""
    issued = (await service.user_token(scope="openid"))["access_token"]
    claims = {**unverified_claims(issued), "cnf": {"x5t#S256": thumbprint}}
    token = await service.features.ring.signing_key().sign(claims, typ="at+jwt")
    headers["Authorization"] = f"Bearer {token}"
    return (await service.get("/connect/userinfo", headers=headers)).status


@pytest.mark.parametrize("headers", [{}, {"Expect": "100-continue"}], ids=["fast lane", "aiohttp"])
async def test_a_bound_token_is_accepted_on_a_connection_with_its_certificate(
    service: RunningService, thumbprint: str, headers: dict[str, str]
) -> None:
    assert await userinfo(service, thumbprint, **headers) == 200


async def test_a_bound_token_is_refused_on_a_connection_with_another_certificate(
    service: RunningService,
) -> None:
    assert await userinfo(service, base64url(sha256(b"another").digest())) == 401
