"""Methods read evidence from the request, and the client's registration chooses among them (RFC 6749 §2.3, RFC 8705 §2)."""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec
import pytest
from multidict import CIMultiDict

from service.clients.authentication import CLIENT_AUTH_METHODS, Method
from service.model import secret as secret_model
from service.model.catalogue import Credential
from service.model.client import Client
from service.model.credentials import Evidence, RequestCredentials
from service.protocol.octets import base64url
from tests.driving.certificate import certified
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("6749#2.3", "8705#2")

FORM = {"grant_type": "client_credentials", "scope": "api1"}
METHOD = "self_signed_tls_client_auth"


class ByCertificate(msgspec.Struct, frozen=True):
    """A method of mutual TLS as one class: it knows no other method."""

    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset()

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        client_id = request.params.get("client_id")
        if request.certificate is None or client_id is None:
            return None
        return Evidence(client_id=client_id, request=request)

    async def proves(self, evidence: Evidence, client: Client | None) -> bool:
        certificate = evidence.request.certificate
        registered = client.self_signed_certificates if client else ()
        return certificate is not None and certificate.confirmation.thumbprint in registered


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> str:
    text = certified(tmp_path_factory.mktemp("certificate")).read_text()
    return text[text.index("-----BEGIN CERTIFICATE-----") :]


@pytest.fixture
def config(
    config: dict[str, Any],
    pem: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> dict[str, Any]:
    monkeypatch.setitem(
        CLIENT_AUTH_METHODS, METHOD, Method(f"{__name__}:ByCertificate", Credential.CERTIFICATE)
    )
    client = client_in(config, "machine")
    certificates = {
        "self_signed_certificates": [base64url(sha256(der(pem)).digest())],
        "token_endpoint_auth_method": METHOD,
    }
    config["clients"].append(client | certificates | {"client_id": "by-certificate"})
    config["server"] = {
        "trusted_proxies": ["127.0.0.0/8"],
        "client_certificate_header": "Client-Cert",
    } | getattr(request, "param", {})
    return config


def der(pem: str) -> bytes:
    return b64decode("".join(pem.splitlines()[1:-1]))


def client_cert(pem: str) -> str:
    """The header field of RFC 9440 §2.1."""
    return f":{b64encode(der(pem)).decode()}:"


async def ask(service: RunningService, client_id: str, header: str | None, **form: str) -> Answer:
    headers = {} if header is None else {"Client-Cert": header}
    return await service.post(
        "/connect/token", headers=headers, client_id=client_id, **FORM, **form
    )


async def test_a_new_method_authenticates_by_the_certificate_of_a_trusted_proxy(
    service: RunningService, pem: str
) -> None:
    assert (await ask(service, "by-certificate", client_cert(pem))).status == 200
    assert (await ask(service, "by-certificate", None)).refusal == (401, "invalid_client")


async def test_the_registration_chooses_between_certificate_and_secret(
    service: RunningService, pem: str
) -> None:
    header = client_cert(pem)
    answer = await ask(service, "machine", header, client_secret="machine-secret")
    assert answer.status == 200
    answer = await ask(service, "by-certificate", header, client_secret="machine-secret")
    assert answer.refusal == (401, "invalid_client")


async def test_a_public_client_needs_no_proof_though_it_shows_a_certificate(
    service: RunningService, pem: str
) -> None:
    form = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": "spa"}
    headers = {"Client-Cert": client_cert(pem)}
    answer = await service.post("/connect/token", headers=headers, **form)
    assert answer.refusal == (400, "invalid_grant")


@pytest.mark.rfc("9440#2.4")
@pytest.mark.parametrize("config", [{"trusted_proxies": ["192.0.2.1"]}], indirect=True, ids=[""])
async def test_the_header_of_an_untrusted_peer_is_ignored(
    service: RunningService, pem: str
) -> None:
    for header in (client_cert(pem), "malformed"):
        answer = await ask(service, "by-certificate", header)
        assert answer.refusal == (401, "invalid_client")


@pytest.mark.parametrize(
    "config", [{"client_certificate_header": "X-SSL-Cert"}], indirect=True, ids=["X-SSL-Cert"]
)
async def test_a_certificate_may_be_url_encoded_pem(service: RunningService, pem: str) -> None:
    form = {**FORM, "client_id": "by-certificate"}
    for header, status in (("X-SSL-Cert", 200), ("Client-Cert", 401)):
        answer = await service.post("/connect/token", headers={header: quote(pem)}, **form)
        assert answer.status == status


@pytest.mark.rfc("9440#2.1")
@pytest.mark.parametrize("header", ["malformed", ":bWFkZSB1cA==:", ":!:", "::"])
async def test_a_malformed_certificate_is_refused(service: RunningService, header: str) -> None:
    assert (await ask(service, "by-certificate", header)).refusal == (400, "invalid_request")


async def test_a_second_certificate_header_is_refused(service: RunningService, pem: str) -> None:
    headers = CIMultiDict([("Client-Cert", client_cert(pem))] * 2)
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    data = "grant_type=client_credentials&client_id=by-certificate"
    answer = await service.request("POST", "/connect/token", headers=headers, data=data)
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.parametrize(
    ("path", "caller"),
    [
        ("/connect/token", "machine"),
        ("/connect/introspect", "api1"),
        ("/connect/revocation", "machine"),
    ],
)
async def test_every_endpoint_remembers_proven_credentials(
    service: RunningService, path: str, caller: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    def counting(one: bytes, other: bytes) -> bool:
        compared.append(len(one))
        return hmac.compare_digest(one, other)

    monkeypatch.setattr(secret_model, "hmac", SimpleNamespace(compare_digest=counting))
    for _ in range(3):
        answer = await service.post(path, auth=caller, token="x", grant_type="client_credentials")
        assert answer.status == 200
    assert compared == [32]
