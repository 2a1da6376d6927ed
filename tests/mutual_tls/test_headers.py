"""The one configured header of a trusted proxy holds the certificate (RFC 9440, RFC 8705 §6.5)."""

from __future__ import annotations

import random
from base64 import b64encode
from typing import Any

import pytest
from cryptography import x509
from multidict import CIMultiDict

from tests.conftest import Start
from tests.driving.authority import FOR_CLIENTS, Certified, sequence
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("9440#2", "8705#6.5")

FORM = "grant_type=client_credentials&scope=api1&client_id=shop"


async def ask(service: RunningService, *headers: tuple[str, str]) -> Answer:
    sent = CIMultiDict([*headers, ("Content-Type", "application/x-www-form-urlencoded")])
    return await service.request("POST", "/connect/token", headers=sent, data=FORM)


@pytest.fixture
def nested(authority: Certified) -> Certified:
    """A certificate with two authorities below the accepted one."""
    return authority.authority("CN=1").authority("CN=2").issue()


async def test_the_header_of_an_untrusted_peer_is_ignored(
    start: Start, config: dict[str, Any], shop: Certified
) -> None:
    config["server"]["trusted_proxies"] = ["192.0.2.1"]
    service = await start(config)
    for value in (sequence(shop.certificate), "malformed"):
        assert (await ask(service, ("Client-Cert", value))).refusal == (401, "invalid_client")


async def test_the_operator_learns_that_a_proxy_is_not_listed(
    start: Start, config: dict[str, Any], shop: Certified, capfd: pytest.CaptureFixture[str]
) -> None:
    config["server"]["trusted_proxies"] = ["192.0.2.1"]
    service = await start(config)
    headers = shop.headers() | {"X-Forwarded-For": "203.0.113.7"}
    for _ in range(2):
        await ask(service, *headers.items())
    assert "".join(capfd.readouterr()).count("forwarded headers are ignored") == 1


@pytest.mark.parametrize("header", ["Client-Cert", "X-SSL-Cert"])
async def test_only_the_configured_header_is_read(
    start: Start, config: dict[str, Any], shop: Certified, header: str
) -> None:
    config["server"]["client_certificate_header"] = header
    service = await start(config)
    values = shop.headers() | shop.escaped()
    for sent, value in values.items():
        answer = await ask(service, (sent, value))
        assert answer.status == (200 if sent == header else 401)


async def test_the_order_of_the_chain_in_several_fields_is_kept(
    service: RunningService, nested: Certified
) -> None:
    fields = [("Client-Cert-Chain", sequence(each)) for each in nested.chain]
    answer = await ask(service, ("Client-Cert", sequence(nested.certificate)), *fields)
    assert answer.status == 200


async def test_without_its_chain_a_certificate_is_refused(
    service: RunningService, nested: Certified
) -> None:
    headers = nested.headers(chain=False)
    assert (await ask(service, *headers.items())).refusal == (401, "invalid_client")


async def test_a_chain_after_text_around_pem_is_not_read(
    start: Start, config: dict[str, Any], nested: Certified
) -> None:
    config["server"]["client_certificate_header"] = "X-SSL-Cert"
    headers = nested.escaped() | {"Client-Cert-Chain": nested.headers()["Client-Cert-Chain"]}
    answer = await ask(await start(config), *headers.items())
    assert answer.refusal == (401, "invalid_client")


@pytest.mark.parametrize("twice", ["Client-Cert", "X-SSL-Cert"])
async def test_a_certificate_that_is_sent_twice_is_refused(
    start: Start, config: dict[str, Any], shop: Certified, twice: str
) -> None:
    config["server"]["client_certificate_header"] = twice
    value = (shop.headers() | shop.escaped())[twice]
    service = await start(config)
    assert (await ask(service, (twice, value), (twice, value))).refusal == (400, "invalid_request")
    assert (await ask(service, (twice, f"{value}, {value}"))).refusal == (400, "invalid_request")


@pytest.mark.parametrize(
    "value", ["malformed", "-----BEGIN%20CERTIFICATE-----", "%ff%00", ":AAAA:", "%0A"]
)
async def test_a_malformed_pem_header_is_refused(
    start: Start, config: dict[str, Any], value: str
) -> None:
    config["server"]["client_certificate_header"] = "X-SSL-Cert"
    answer = await ask(await start(config), ("X-SSL-Cert", value))
    assert answer.refusal == (400, "invalid_request")


async def test_a_chain_is_bounded(
    service: RunningService, shop: Certified, authority: Certified
) -> None:
    for count, status in ((4, 200), (5, 400)):
        chain = ", ".join([sequence(authority.certificate)] * count)
        headers = shop.headers() | {"Client-Cert-Chain": chain}
        assert (await ask(service, *headers.items())).status == status


async def test_a_chain_without_a_certificate_is_ignored(
    service: RunningService, authority: Certified
) -> None:
    for chain in (sequence(authority.certificate), "malformed"):
        answer = await ask(service, ("Client-Cert-Chain", chain))
        assert answer.refusal == (401, "invalid_client")


async def test_a_malformed_certificate_at_userinfo_is_refused(service: RunningService) -> None:
    headers = {"Client-Cert": "malformed", "Authorization": "Bearer x"}
    answer = await service.get("/connect/userinfo", headers=headers)
    assert answer.refusal == (401, "invalid_token")  # it is not looked at for a token that is none


def replaced(certificate: Certified, old: str, new: str) -> bytes:
    """The certificate with some bytes that are others."""
    return certificate.der.replace(bytes.fromhex(old), bytes.fromhex(new), 1)


async def ask_with(service: RunningService, der: bytes) -> Answer:
    return await ask(service, ("Client-Cert", f":{b64encode(der).decode()}:"))


@pytest.mark.parametrize(
    ("old", "new"),
    [("a003020102", "a003020172"), ("0c0473686f70", "030473686f70"), ("551d11", "551d25")],
    ids=["its version", "the type of a name", "an extension twice"],
)
async def test_a_certificate_that_cannot_be_read_is_refused(
    service: RunningService, authority: Certified, old: str, new: str
) -> None:
    names = x509.SubjectAlternativeName([x509.DNSName("shop.example")])
    der = replaced(authority.issue(extensions=(*FOR_CLIENTS, names)), old, new)
    assert (await ask_with(service, der)).refusal == (400, "invalid_request")


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
async def test_no_spoiled_certificate_is_accepted_or_an_error_here(
    service: RunningService, authority: Certified
) -> None:
    made = authority.issue(
        extensions=(*FOR_CLIENTS, x509.SubjectKeyIdentifier(b"x" * 20)), names_keys=False
    )
    dice = random.Random(8705)  # noqa: S311 - the same spoiled certificates each time
    for _ in range(300):
        der = bytearray(made.der)
        place = dice.randrange(len(der))
        der[place] ^= 1 << dice.randrange(8)
        answer = await ask_with(service, bytes(der))
        assert answer.refusal in {(400, "invalid_request"), (401, "invalid_client")}


async def test_the_refusal_of_a_header_names_the_form_that_it_has_to_have(
    service: RunningService, shop: Certified
) -> None:
    answer = await ask(service, ("Client-Cert", shop.pem.replace("\n", " ").strip()))
    assert answer.refusal == (400, "invalid_request")
    expected = "the Client-Cert header does not hold a certificate as :base64 of its DER:"
    assert answer["error_description"] == expected
