"""Requests that the service makes trust the authorities of the system and of `outgoing.ca_file`."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography import x509
from structlog.testing import capture_logs

from service.model.outgoing import HttpRequest, Unreachable
from service.outgoing.http_client import OutgoingHttp
from tests.conftest import Start
from tests.driving.authority import root
from tests.outgoing.conftest import serving_tls

pytestmark = pytest.mark.needs("openssl")


async def test_a_further_authority_is_trusted(https: str, certificate: Path) -> None:
    outgoing = OutgoingHttp(timeout=60, ca_file=certificate, policy=None)
    assert (await outgoing.fetch(HttpRequest(https))).status == 404
    await outgoing.close()


async def test_a_certificate_of_an_unknown_authority_is_not_trusted(https: str) -> None:
    outgoing = OutgoingHttp(timeout=60, ca_file=None, policy=None)
    with pytest.raises(Unreachable, match="Certificate"):
        await outgoing.fetch(HttpRequest(https))
    await outgoing.close()


@pytest.fixture
def pem(certificate: Path) -> str:
    """The authority of the server."""
    return certificate.read_text()


@pytest.fixture
async def changing(tmp_path: Path, pem: str) -> AsyncIterator[tuple[OutgoingHttp, Path]]:
    """A client that keeps connections, and its file of authorities, which has that of the server at first."""
    file = tmp_path / "ca.pem"
    file.write_text(pem)
    outgoing = OutgoingHttp(timeout=30, ca_file=file, policy=None, kept=2)
    yield outgoing, file
    await outgoing.close()


async def test_the_authorities_of_a_changed_file_count_for_the_next_request(
    https: str, pem: str, changing: tuple[OutgoingHttp, Path]
) -> None:
    outgoing, file = changing
    assert (await outgoing.fetch(HttpRequest(https))).status == 404
    file.write_text(root().pem)
    with pytest.raises(Unreachable, match="Certificate"):
        await outgoing.fetch(HttpRequest(https))
    file.write_text(root().pem + pem)
    assert (await outgoing.fetch(HttpRequest(https))).status == 404


@pytest.mark.parametrize("broken", ["", "no certificate", None], ids=["empty", "text", "away"])
async def test_authorities_stay_in_use_while_their_file_is_broken(
    https: str, changing: tuple[OutgoingHttp, Path], broken: str | None
) -> None:
    outgoing, file = changing
    assert (await outgoing.fetch(HttpRequest(https))).status == 404
    file.unlink() if broken is None else file.write_text(broken)
    with capture_logs() as logged:
        answers = [await outgoing.fetch(HttpRequest(https)) for _ in range(2)]
    assert [answer.status for answer in answers] == [404, 404]
    assert [each["log_level"] for each in logged] == ["warning"]


async def test_a_request_under_way_is_answered_though_the_file_changes(
    shown: ssl.SSLContext, changing: tuple[OutgoingHttp, Path]
) -> None:
    """Its session is closed after it: one that is forgotten warns, which fails the test."""
    asked, answering = asyncio.Event(), asyncio.Event()

    async def slow(_: web.Request) -> web.Response:
        asked.set()
        await answering.wait()
        return web.Response()

    outgoing, file = changing
    async with serving_tls(shown, web.get("/slow", slow)) as url:
        under_way = asyncio.create_task(outgoing.fetch(HttpRequest(f"{url}slow")))
        await asked.wait()
        file.write_text(file.read_text() + root().pem)
        assert (await outgoing.fetch(HttpRequest(url))).status == 404
        answering.set()
        assert (await under_way).status == 200
        await outgoing.fetch(HttpRequest(url))


@pytest.mark.usefixtures("strict_python")
async def test_a_certificate_without_every_extension_is_trusted_if_its_authority_is(
    tmp_path: Path, start: Start, config: dict[str, Any]
) -> None:
    authority, pem = root(), tmp_path / "ca.pem"
    pem.write_text(authority.pem)
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    shown = authority.issue("CN=cluster", extensions=[names], names_keys=False).write(
        tmp_path / "cluster.pem"
    )
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(shown)
    config["outgoing"] = {"ca_file": str(pem)}
    shared = (await start(config)).features.shared
    async with serving_tls(own) as url:
        assert (
            await shared.http_trusting("workload_issuer", pem).fetch(HttpRequest(url))
        ).status == 404
        assert (
            await shared.http_trusting("workload_issuer", None).fetch(HttpRequest(url))
        ).status == 404


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://[", "ftp://x/", "http://x.invalid/"]
)
async def test_a_url_that_cannot_be_requested_is_unreachable(url: str) -> None:
    outgoing = OutgoingHttp(timeout=60, ca_file=None, policy=None)
    with pytest.raises(Unreachable):
        await outgoing.fetch(HttpRequest(url))
    await outgoing.close()
