"""The service's own TLS asks for certificates at a port of its own, in a real process (RFC 8705 §2, §5)."""

from __future__ import annotations

import signal
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import ClientError, ClientSession, TCPConnector

from tests.driving.authority import DAY, Certified, root, self_signed
from tests.driving.certificate import certified
from tests.driving.ports import lasting_ports
from tests.driving.program import Program, program_running
from tests.driving.registry import client_in
from tests.mutual_tls.conftest import SUBJECT, certified_client

pytestmark = pytest.mark.rfc("8705#2", "8705#5")


@dataclass(frozen=True)
class OwnTls:
    """A running service with two ports."""

    program: Program
    main: str
    mtls: str
    server: Path
    authorities: Path

    def context(self, shown: Certified | None) -> ssl.SSLContext:
        """TLS of a client with this certificate; several connections may resume its session."""
        context = ssl.create_default_context(cafile=str(self.server))
        if shown is not None:
            context.load_cert_chain(shown.write(self.server.with_name("client.pem")))
        return context

    async def ask(
        self,
        url: str,
        context: ssl.SSLContext,
        headers: Mapping[str, str] = {},
        **form: str,
    ) -> tuple[int, Any]:
        """Ask for a token on a connection of its own; 0 if TLS refuses it."""
        sent = {"grant_type": "client_credentials", "scope": "api1", "client_id": "shop"} | form
        async with ClientSession(connector=TCPConnector(ssl=context)) as http:
            try:
                async with http.post(
                    url + "/connect/token", data=sent, headers=headers
                ) as response:
                    return response.status, await response.json()
            except ClientError:
                return 0, None


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    machine = client_in(config, "machine")
    config["clients"] = [machine]
    certified_client(config, "shop", tls_client_auth_subject_dn=SUBJECT)
    config |= {"store": {"url": "memory://"}, "mtls": {}, "server": {}}
    for client in config["clients"]:
        client["tls_client_certificate_bound_access_tokens"] = True
    for name in ("identity_providers", "tenants", "extension_grants"):
        config.pop(name, None)
    return config


def own_tls(folder: Path, config: dict[str, Any], authority: Certified) -> tuple[Path, int, int]:
    """The configuration in a file, and its two ports."""
    main, mtls = lasting_ports(2)
    server = certified(folder)
    (folder / "ca.pem").write_text(authority.pem)
    files = {"certificate": str(server), "private_key": str(server), "client_ca": "ca.pem"}
    config["issuer"] = f"https://localhost:{main}"
    config["server"]["tls"] = files | {"mtls_port": mtls}
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(config))
    return file, main, mtls


def served(program: Program, main: int, mtls: int, folder: Path) -> OwnTls:
    return OwnTls(
        program,
        f"https://localhost:{main}",
        f"https://localhost:{mtls}",
        folder / "loopback.pem",
        folder / "ca.pem",
    )


@pytest.fixture
def running(config: dict[str, Any], tmp_path: Path, authority: Certified) -> Iterator[OwnTls]:
    file, main, mtls = own_tls(tmp_path, config, authority)
    with program_running(file, ("--port", str(main)), {}) as program:
        assert program.url() == f"https://127.0.0.1:{main}"
        yield served(program, main, mtls, tmp_path)


@pytest.mark.parametrize("headers", [{}, {"Expect": "100-continue"}], ids=["fast lane", "aiohttp"])
async def test_a_certificate_counts_at_its_port_only(
    running: OwnTls, shop: Certified, headers: dict[str, str]
) -> None:
    context = running.context(shop)
    assert (await running.ask(running.mtls, context, headers))[0] == 200
    status, answer = await running.ask(running.main, context, headers)
    assert (status, answer["error"]) == (401, "invalid_client")


async def test_main_port_requests_no_client_certificate(running: OwnTls, shop: Certified) -> None:
    secret: Any = {"client_id": "machine", "client_secret": "machine-secret"}
    context = running.context(shop)
    status, answer = await running.ask(running.main, context, **secret)
    assert (status, answer["error"]) == (400, "invalid_request")  # its tokens are bound to one
    assert (await running.ask(running.mtls, context, **secret))[0] == 200


async def test_every_connection_shows_the_whole_chain(
    running: OwnTls, authority: Certified
) -> None:
    nested = authority.authority("CN=1").authority("CN=2").issue()
    context = running.context(nested)
    for _ in range(3):
        assert (await running.ask(running.mtls, context))[0] == 200


async def test_a_header_does_not_count_without_a_proxy(running: OwnTls, shop: Certified) -> None:
    for headers in (shop.headers(), shop.escaped(), {"Client-Cert": "malformed"}):
        status, answer = await running.ask(running.mtls, running.context(None), headers)
        assert (status, answer["error"]) == (401, "invalid_client")


async def test_a_handshake_with_a_wrong_certificate_fails(
    running: OwnTls, authority: Certified
) -> None:
    expired = authority.issue(since=-3 * DAY, until=-DAY)
    for shown in (expired, self_signed(SUBJECT), root("CN=root").issue()):
        assert (await running.ask(running.mtls, running.context(shown)))[0] == 0
    status, answer = await running.ask(running.mtls, running.context(authority.issue("CN=x")))
    assert (status, answer["error"]) == (401, "invalid_client")


async def test_authorities_are_replaced_by_a_reload(running: OwnTls, shop: Certified) -> None:
    another = root("CN=another")
    running.authorities.write_text(another.pem)
    running.program.send(signal.SIGHUP)
    running.program.event("registry_reloaded")
    assert (await running.ask(running.mtls, running.context(another.issue())))[0] == 200
    assert (await running.ask(running.mtls, running.context(shop)))[0] == 0


async def test_an_open_connection_ends_with_the_authority_of_its_certificate(
    running: OwnTls, shop: Certified
) -> None:
    form = {"grant_type": "client_credentials", "scope": "api1", "client_id": "shop"}
    connector = TCPConnector(ssl=running.context(shop), limit=1)
    async with ClientSession(running.mtls, connector=connector) as http:
        async with http.post("/connect/token", data=form) as response:
            assert response.status == 200
        running.authorities.write_text(root("CN=another").pem)
        running.program.send(signal.SIGHUP)
        running.program.event("registry_reloaded")
        async with http.post("/connect/token", data=form) as response:
            assert response.status == 401


async def test_workers_share_both_ports_and_the_management_port(
    config: dict[str, Any], tmp_path: Path, authority: Certified, redis_server: str
) -> None:
    file, main, mtls = own_tls(tmp_path, config, authority)
    (management,) = lasting_ports(1)
    config["server"] |= {"management_port": management, "workers": 2}
    config["store"] = {"url": redis_server, "key_prefix": "mtls-workers"}
    config["signing"]["encryption_key"] = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
    file.write_text(yaml.safe_dump(config))
    with program_running(file, ("--port", str(main)), {}) as program:
        program.url()
        running = served(program, main, mtls, tmp_path)
        for _ in range(6):
            assert (await running.ask(running.mtls, running.context(authority.issue())))[0] == 200
        async with (
            ClientSession() as http,
            http.get(f"http://127.0.0.1:{management}/health/ready") as response,
        ):
            assert response.status == 200
        assert program.stop() == 0
