"""Tokens that are bound to certificates, behind the files of examples/gateways in the real programs (RFC 8705 §3)."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector

from tests.check.gateways import TLS, TRAEFIK, ask, proxying
from tests.conftest import Start
from tests.driving.authority import Certified, self_signed
from tests.driving.certificate import certified
from tests.driving.proxy_programs import COMMANDS
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = [
    pytest.mark.rfc("8705#3"),
    pytest.mark.needs("nginx", "haproxy", "caddy", "import envoy"),
    pytest.mark.usefixtures("one_store"),
]

HEADERS = {"nginx.conf": "X-SSL-Cert", "envoy.yaml": "X-SSL-Cert"}
"""The header of a certificate; the other programs send Client-Cert."""


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["server"] = {"trusted_proxies": ["127.0.0.1"]}
    config["api_resources"][0]["checks"] = {"call": {"scope": ["api1"]}}  # which Envoy names
    client_in(config, "machine")["tls_client_certificate_bound_access_tokens"] = True
    return config


def shown(certificate: Certified) -> dict[str, str]:
    return {**certificate.headers(), **certificate.escaped()}


async def bound_token(service: RunningService, header: str, own: Certified) -> str:
    """A token that is bound to a certificate."""
    form = {"grant_type": "client_credentials", "scope": "api1"}
    answer = await service.token("machine", headers={header: shown(own)[header]}, **form)
    return str(answer["access_token"])


@pytest.mark.parametrize("header", ["Client-Cert", "X-SSL-Cert"])
@pytest.mark.parametrize("name", [*COMMANDS, TRAEFIK])
async def test_a_thief_cannot_show_the_certificate_in_a_header(
    start: Start, config: dict[str, Any], tmp_path: Path, name: str, header: str
) -> None:
    config["server"]["client_certificate_header"] = header
    own, service = self_signed("CN=app"), await start(config)
    token = await bound_token(service, header, own)
    async with proxying(name, tmp_path, service.issuer, config) as gateway:
        for forged in ({}, shown(own)):
            answer = await ask(f"{gateway}/orders", Authorization=f"Bearer {token}", **forged)
            assert answer[0] == 401


@pytest.mark.parametrize("name", TLS)
async def test_a_caller_with_the_certificate_gets_through(
    start: Start, config: dict[str, Any], tmp_path: Path, name: str
) -> None:
    header = config["server"]["client_certificate_header"] = HEADERS.get(name, "Client-Cert")
    own, service, server = self_signed("CN=app"), await start(config), certified(tmp_path)
    token = await bound_token(service, header, own)

    async def send(url: str, certificate: Certified | None) -> int:
        context = ssl.create_default_context(cafile=str(server))
        if certificate is not None:
            context.load_cert_chain(certificate.write(tmp_path / "client.pem"))
        headers = {"Authorization": f"Bearer {token}", **shown(own)}
        async with (
            ClientSession(connector=TCPConnector(ssl=context)) as http,
            http.get(url, headers=headers) as answer,
        ):
            return answer.status

    async with proxying(name, tmp_path, service.issuer, config, server=server) as gateway:
        assert await send(f"{gateway}/orders", own) == 200
        assert await send(f"{gateway}/orders", None) == 401
        assert await send(f"{gateway}/orders", self_signed("CN=app")) == 401
