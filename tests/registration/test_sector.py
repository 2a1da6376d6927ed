"""Clients of one sector, which a document at its host vouches for (OIDC Core §8.1, OpenID Connect Registration §5)."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from service.model.polling import DEVICE_CODE
from service.protocol.token_types import JWT_BEARER
from tests.driving.browser import Browser
from tests.driving.listening import listening
from tests.driving.registering import RegisteredApp, register
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("openid-core#8.1", "openid-registration#5")

URIS = ["https://one.example/cb", "https://two.example/cb"]


@dataclass
class SectorHost:
    """A site that serves one document, and counts the requests."""

    certificate: Path
    uri: str = ""
    status: int = 200
    body: bytes = b""
    asked: int = 0

    async def show(self, _: web.Request) -> web.Response:
        """The document."""
        self.asked += 1
        return web.Response(status=self.status, body=self.body)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that is its own authority; its key is in the same folder."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    names = ["-subj", "/CN=sector", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-nodes", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return certificate


@pytest.fixture
async def sector(certificate: Path) -> AsyncIterator[SectorHost]:
    """It shows both redirect URIs, over TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    host = SectorHost(certificate)
    host.body = f'["{URIS[0]}", "{URIS[1]}", "https://three.example/cb"]'.encode()
    async with listening(host.show, tls=context) as origin:
        host.uri = f"{origin}/sector.json"
        yield host


@pytest.fixture
def config(config: dict[str, Any], sector: SectorHost) -> dict[str, Any]:
    """Pairwise subjects, and a way to the site."""
    config["pairwise_salt"] = "a salt that nobody can guess"
    config["outgoing"] = {"ca_file": str(sector.certificate), "allowed_networks": ["127.0.0.0/8"]}
    return config


async def pairwise(service: RunningService, sector: SectorHost, **changes: Any) -> Any:
    """Register a client of the sector."""
    metadata = {
        "redirect_uris": URIS,
        "subject_type": "pairwise",
        "sector_identifier_uri": sector.uri,
    }
    return await register(service, **metadata | changes)


async def test_a_document_that_lists_all_redirect_uris_makes_one_sector(
    service: RunningService, sector: SectorHost
) -> None:
    answer = await pairwise(service, sector)
    assert (answer.status, sector.asked) == (201, 1)
    assert answer["sector_identifier_uri"] == sector.uri


@pytest.mark.parametrize("subject_type", ["pairwise", "public"])
async def test_a_document_that_misses_a_redirect_uri_is_refused(
    service: RunningService, sector: SectorHost, subject_type: str
) -> None:
    uris = [*URIS, "https://four.example/cb"]
    answer = await pairwise(service, sector, redirect_uris=uris, subject_type=subject_type)
    assert answer.refusal == (400, "invalid_client_metadata")
    assert "sector_identifier_uri" in answer["error_description"]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'"https://one.example/cb"', b"[1, 2]", b"\xff", b"[" * 5000], ids=repr
)
async def test_a_document_that_is_not_a_list_is_refused(
    service: RunningService, sector: SectorHost, body: bytes
) -> None:
    sector.body = body[:5000]
    assert (await pairwise(service, sector)).refusal == (400, "invalid_client_metadata")


@pytest.mark.parametrize("status", [204, 302, 404, 500])
async def test_a_missing_document_is_refused(
    service: RunningService, sector: SectorHost, status: int
) -> None:
    sector.status = status
    assert (await pairwise(service, sector)).refusal == (400, "invalid_client_metadata")


async def test_several_hosts_need_a_document(service: RunningService, sector: SectorHost) -> None:
    answer = await pairwise(service, sector, sector_identifier_uri=None)
    assert answer.refusal == (400, "invalid_client_metadata")
    assert answer["error_description"].startswith("sector_identifier_uri")


@pytest.mark.rfc("8252#7.1", "8252#7.3")
@pytest.mark.parametrize("own", ["com.evil.app:/cb", "http://127.0.0.1/cb"])
async def test_client_does_not_join_a_sector_by_a_host_next_to_an_app(
    service: RunningService, sector: SectorHost, own: str
) -> None:
    changes = {"redirect_uris": [URIS[0], own], "application_type": "native"}
    answer = await pairwise(service, sector, sector_identifier_uri=None, **changes)
    assert answer.refusal == (400, "invalid_client_metadata")
    assert answer["error_description"].startswith("sector_identifier_uri")


async def find_sub(service: RunningService, browser: Browser, **metadata: Any) -> str:
    """Register a client with the same redirect URI as others; its identifier of alice."""
    app = await RegisteredApp.register(
        service, browser, redirect_uris=[URIS[0]], subject_type="pairwise", **metadata
    )
    return str(claims_in((await app.tokens(scope="openid"))["id_token"])["sub"])


@pytest.mark.rfc("8628#3.4")
async def test_client_does_not_join_a_sector_by_unused_redirect_uris(
    service: RunningService, browser: Browser
) -> None:
    subs = {
        await find_sub(service, browser, grant_types=["authorization_code", *more])
        for more in ([], ["refresh_token"], [DEVICE_CODE], [DEVICE_CODE, JWT_BEARER])
    }
    assert len(subs) == 3


@pytest.mark.parametrize("grant_type", [DEVICE_CODE, JWT_BEARER])
async def test_a_document_is_no_proof_for_a_grant_without_redirect_uris(
    service: RunningService, sector: SectorHost, grant_type: str
) -> None:
    answer = await pairwise(service, sector, grant_types=["authorization_code", grant_type])
    assert answer.refusal == (400, "invalid_client_metadata")
    assert answer["error_description"].startswith("sector_identifier_uri")


async def test_one_host_needs_no_document(service: RunningService, sector: SectorHost) -> None:
    answer = await pairwise(
        service, sector, sector_identifier_uri=None, redirect_uris=[URIS[0], URIS[0] + "?a=b"]
    )
    assert answer.status == 201


async def test_an_update_is_checked_against_the_document_too(
    service: RunningService, sector: SectorHost
) -> None:
    told = await pairwise(service, sector)
    uri = str(told["registration_client_uri"]).removeprefix(service.issuer)
    changed = {
        "client_id": told["client_id"],
        "redirect_uris": ["https://four.example/cb"],
        "sector_identifier_uri": sector.uri,
    }
    sent = {"Authorization": f"Bearer {told['registration_access_token']}"}
    answer = await service.request("PUT", uri, json=changed, headers=sent)
    assert answer.refusal == (400, "invalid_client_metadata")


class TestInAPrivateNetwork:
    """Without allowed networks, documents of registered clients in them are not fetched."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["outgoing"]["allowed_networks"] = []
        return config

    async def test_a_document_in_a_forbidden_network_is_not_fetched(
        self, service: RunningService, sector: SectorHost
    ) -> None:
        answer = await pairwise(service, sector)
        assert answer.refusal == (400, "invalid_client_metadata")
        assert sector.asked == 0


@pytest.mark.rfc("openid-core#8.1")
async def test_no_token_shows_a_pairwise_client_who_the_person_is_elsewhere(
    service: RunningService, browser: Browser
) -> None:
    app = await RegisteredApp.register(service, browser, subject_type="pairwise")
    tokens = await app.tokens(scope="openid")
    assert tokens["access_token"].startswith("at_")
    assert claims_in(tokens["id_token"])["sub"] != "818727"
