"""tls_client_auth: certificates of an authority, verified by the service itself (RFC 8705 §2.1, RFC 5280 §6)."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.conftest import Clock, Start
from tests.driving.authority import DAY, FOR_CLIENTS, Certified, root, self_signed
from tests.driving.service import Answer, RunningService
from tests.mutual_tls.conftest import SUBJECT, certified_client

pytestmark = pytest.mark.rfc("8705#2.1")

Make = Callable[[Certified], Certified]

SAN = {
    "dns": ("Shop.example", x509.DNSName("shop.EXAMPLE")),
    "uri": ("spiffe://example/shop", x509.UniformResourceIdentifier("spiffe://example/shop")),
    "ip": ("2001:db8::1", x509.IPAddress(ip_address("2001:0db8:0::1"))),
    "email": ("shop@Example.com", x509.RFC822Name("shop@example.COM")),
}
FOREIGN = {
    "dns": x509.DNSName("*.example"),
    "uri": x509.UniformResourceIdentifier("spiffe://example/Shop"),
    "ip": x509.IPAddress(ip_address("2001:db8::2")),
    "email": x509.RFC822Name("Shop@example.com"),
}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    for kind, (name, _) in SAN.items():
        certified_client(config, f"by-{kind}", **{f"tls_client_auth_san_{kind}": name})
    certified_client(
        config, "any", token_endpoint_auth_method=None, tls_client_auth_subject_dn="CN=any"
    )
    return config


async def ask(
    service: RunningService, shown: Certified | dict[str, str] | None, client_id: str = "shop"
) -> Answer:
    headers = shown.headers() if isinstance(shown, Certified) else shown
    form = {"grant_type": "client_credentials", "scope": "api1", "client_id": client_id}
    return await service.post("/connect/token", headers=headers, **form)


def with_names(authority: Certified, *names: x509.GeneralName) -> Certified:
    return authority.issue("CN=x", extensions=(*FOR_CLIENTS, x509.SubjectAlternativeName(names)))


async def test_a_client_authenticates_by_the_subject_of_its_certificate(
    service: RunningService, shop: Certified
) -> None:
    assert (await ask(service, shop)).status == 200


@pytest.mark.parametrize("kind", SAN)
async def test_a_client_authenticates_by_one_name_of_its_certificate(
    service: RunningService, authority: Certified, kind: str
) -> None:
    others = [x509.DNSName("another.example"), x509.RFC822Name("another@example.com")]
    shown = with_names(authority, *others, SAN[kind][1])
    assert (await ask(service, shown, f"by-{kind}")).status == 200


@pytest.mark.parametrize("kind", SAN)
async def test_a_certificate_with_another_name_is_refused(
    service: RunningService, authority: Certified, kind: str
) -> None:
    for shown in (with_names(authority, FOREIGN[kind]), authority.issue("CN=x")):
        answer = await ask(service, shown, f"by-{kind}")
        assert answer.refusal == (401, "invalid_client")


@pytest.mark.rfc("4514#2", "5280#7.1")
@pytest.mark.parametrize(
    "spelling",
    [
        "cn=shop,o=Example",
        "CN=SHOP,O=example",
        "2.5.4.3=shop,2.5.4.10=Example",
        "CN=#0C0473686F70,O=#13074578616D706C65",
        r"CN=\73hop,O=Exam\70le",
        "commonName=shop,organizationName=Example",
    ],
)
async def test_a_subject_is_compared_by_value_and_not_by_spelling(
    start: Start, config: dict[str, Any], shop: Certified, spelling: str
) -> None:
    certified_client(config, "spelled", tls_client_auth_subject_dn=spelling)
    assert (await ask(await start(config), shop, "spelled")).status == 200


@pytest.mark.parametrize(
    "another",
    [
        "O=Example,CN=shop",
        "CN=shop",
        "CN=shop+O=Example",
        "CN=shop,O=Example,C=DE",
        "CN=shops,O=Example",
    ],
)
async def test_another_subject_is_refused(
    service: RunningService, authority: Certified, another: str
) -> None:
    answer = await ask(service, authority.issue(another))
    assert answer.refusal == (401, "invalid_client")


def below(*constraints: x509.ExtensionType, **settings: Any) -> Make:
    """A certificate of an authority below the accepted one."""
    return lambda ca: ca.authority("CN=below", *constraints, **settings).issue()


USAGE = dict.fromkeys(
    (
        *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
        *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
    ),
    False,
)
AUTHORITY = x509.BasicConstraints(ca=True, path_length=None)


def only(usage: str) -> x509.KeyUsage:
    return x509.KeyUsage(**USAGE | {usage: True})


def excluded(*names: x509.GeneralName) -> x509.NameConstraints:
    return x509.NameConstraints(permitted_subtrees=None, excluded_subtrees=names)


SERVERS_ONLY = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])

ACCEPTED: dict[str, Make] = {
    "of an authority between": below(),
    "of one that may issue to ends only": below(length=0),
    "of the third authority below": lambda ca: (
        ca.authority("CN=1").authority("CN=2").authority("CN=3").issue()
    ),
    "without any use": lambda ca: ca.issue(extensions=()),
    "for clients and servers": lambda ca: ca.issue(
        extensions=[x509.ExtendedKeyUsage([*SERVERS_ONLY, *FOR_CLIENTS[0]])]  # type: ignore[misc]
    ),
    "of an RSA key": lambda ca: ca.issue(key=rsa.generate_private_key(65537, 2048)),
    "that may sign": lambda ca: ca.issue(critical=[only("digital_signature")]),
    "of an authority for other names": below(excluded(x509.DNSName("example.com"))),
}
REFUSED: dict[str, Make] = {
    "expired": lambda ca: ca.issue(since=-3 * DAY, until=-DAY),
    "not valid yet": lambda ca: ca.issue(since=DAY),
    "self-signed": lambda _: self_signed(SUBJECT),
    "of an unknown authority": lambda _: root("CN=another").issue(),
    "of an unknown authority of the same name": lambda _: root("CN=root").issue(),
    "of an unknown authority below": lambda _: root("CN=root").authority("CN=below").issue(),
    "for servers only": lambda ca: ca.issue(extensions=[SERVERS_ONLY]),
    "for any use": lambda ca: ca.issue(
        extensions=[x509.ExtendedKeyUsage([ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE])]
    ),
    "of an authority itself": lambda ca: ca.authority(SUBJECT),
    "of a key that only encrypts": lambda ca: ca.issue(critical=[only("key_encipherment")]),
    "with a critical extension that nobody knows": lambda ca: ca.issue(
        critical=[x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")]
    ),
    "of an authority with a short RSA key": lambda ca: ca.issue(
        "CN=below",
        critical=[AUTHORITY],
        extensions=(),
        key=rsa.generate_private_key(65537, 1024),  # noqa: S505 - what is tried
    ).issue(),
    "of an authority with an unusual curve": lambda ca: ca.issue(
        "CN=below",
        critical=[AUTHORITY],
        extensions=(),
        key=ec.generate_private_key(ec.SECP256K1()),
    ).issue(),
    "without the authority between": lambda ca: Certified(
        (made := ca.authority("CN=below").issue()).certificate, made.key
    ),
    "of another client": lambda ca: ca.issue("CN=mallory").issue(),
    "of an authority that is none": below(ca=False),
    "of an authority for signatures only": below(only("digital_signature")),
    "of an authority for servers only": below(SERVERS_ONLY),
    "of an authority below one that allows none": lambda ca: (
        ca.authority("CN=1", length=0).authority("CN=2").issue()
    ),
    "of an expired authority": lambda ca: ca.issue(
        "CN=below",
        critical=[AUTHORITY],
        extensions=(),
        since=-3 * DAY,
        until=-DAY,
    ).issue(),
    "of the fourth authority below": lambda ca: (
        ca.authority("CN=1").authority("CN=2").authority("CN=3").authority("CN=4").issue()
    ),
    "of an authority whose subjects are constrained": below(
        excluded(x509.DirectoryName(x509.Name.from_rfc4514_string("O=Example")))
    ),
}


@pytest.mark.rfc("5280#6.1", "9440#2.2")
@pytest.mark.parametrize("make", ACCEPTED.values(), ids=ACCEPTED)
async def test_a_certificate_is_accepted(
    service: RunningService, authority: Certified, make: Make
) -> None:
    assert (await ask(service, make(authority))).status == 200


@pytest.mark.rfc("5280#6.1")
@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
async def test_a_certificate_is_refused(
    service: RunningService, authority: Certified, make: Make
) -> None:
    answer = await ask(service, make(authority))
    assert answer.refusal == (401, "invalid_client")
    assert answer["error_description"] == "the client is unknown or its credentials are wrong"


@pytest.mark.rfc("5280#4.2.1.10")
async def test_an_authority_cannot_issue_names_that_it_must_not(
    service: RunningService, authority: Certified
) -> None:
    constrained = authority.authority("CN=below", excluded(x509.DNSName("example")))
    networks = excluded(x509.IPAddress(ip_network("2001:db8::/32")))
    for kind, issuer in (("dns", constrained), ("ip", authority.authority("CN=below", networks))):
        answer = await ask(service, with_names(issuer, SAN[kind][1]), f"by-{kind}")
        assert answer.refusal == (401, "invalid_client")


async def test_a_certificate_that_expires_is_refused_from_then_on(
    service: RunningService, authority: Certified, clock: Clock
) -> None:
    shown = authority.issue(until=DAY)
    assert (await ask(service, shown)).status == 200
    clock.forward(days=2)
    assert (await ask(service, shown)).refusal == (401, "invalid_client")


async def test_without_a_certificate_the_client_is_refused(
    service: RunningService, shop: Certified
) -> None:
    assert (await ask(service, None)).refusal == (401, "invalid_client")
    assert (await ask(service, shop, "nobody")).refusal == (401, "invalid_client")


async def test_a_new_certificate_of_the_same_subject_is_accepted_at_once(
    service: RunningService, authority: Certified
) -> None:
    for _ in range(2):
        assert (await ask(service, authority.issue(SUBJECT))).status == 200


async def test_any_method_with_a_credential_is_accepted_where_none_is_registered(
    service: RunningService, authority: Certified
) -> None:
    assert (await ask(service, authority.issue("CN=any"), "any")).status == 200
    assert (await ask(service, authority.issue("CN=any"))).refusal == (401, "invalid_client")


async def test_a_certificate_does_not_get_in_the_way_of_a_secret(
    service: RunningService, shop: Certified
) -> None:
    answer = await service.token("machine", grant_type="client_credentials", headers=shop.headers())
    assert answer.status == 200


async def test_a_certificate_does_not_stand_for_the_client_of_another_method(
    service: RunningService, shop: Certified
) -> None:
    assert (await ask(service, shop, "machine")).refusal == (401, "invalid_client")


@pytest.mark.parametrize("path", ["/connect/introspect", "/connect/revocation"])
async def test_a_certificate_authenticates_at_every_endpoint(
    service: RunningService, shop: Certified, path: str
) -> None:
    token = (await ask(service, shop))["access_token"]
    answer = await service.post(path, headers=shop.headers(), client_id="shop", token=token)
    assert answer.status == 200
    refused = await service.post(path, client_id="shop", token=token)
    assert refused.refusal == (401, "invalid_client")


def rewrite(file: str, *authorities: Certified) -> None:
    Path(file).write_text("".join(each.pem for each in authorities))


async def test_authorities_are_read_again_at_a_reload(
    service: RunningService, shop: Certified, authority_file: str, authority: Certified
) -> None:
    another = root("CN=another")
    registry = service.parts.shared.registry
    try:
        rewrite(authority_file, another)
        assert registry.reload()
        assert (await ask(service, shop)).refusal == (401, "invalid_client")
        assert (await ask(service, another.issue())).status == 200
        rewrite(authority_file, another, authority)
        assert registry.reload()
        assert (await ask(service, shop)).status == 200
    finally:
        rewrite(authority_file, authority)
        assert registry.reload()


async def test_a_file_without_certificates_is_refused_at_a_reload(
    service: RunningService, shop: Certified, authority_file: str, authority: Certified
) -> None:
    try:
        rewrite(authority_file)
        assert not service.parts.shared.registry.reload()
        assert (await ask(service, shop)).status == 200
    finally:
        rewrite(authority_file, authority)
