"""tls_client_auth: certificates of an authority, verified by the service itself (RFC 8705 §2.1, RFC 5280 §6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.conftest import Clock, Start
from tests.driving.authority import DAY, FOR_CLIENTS, Certified, root
from tests.driving.service import Answer, RunningService
from tests.mutual_tls.certificates import (
    SAN,
    SERVERS_ONLY,
    Make,
    below,
    excluded,
    only,
    with_names,
)
from tests.mutual_tls.conftest import SUBJECT, certified_client

pytestmark = pytest.mark.rfc("8705#2.1")


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


@pytest.mark.rfc("5280#6.1", "9440#2.2")
@pytest.mark.parametrize("make", ACCEPTED.values(), ids=ACCEPTED)
async def test_a_certificate_is_accepted(
    service: RunningService, authority: Certified, make: Make
) -> None:
    assert (await ask(service, make(authority))).status == 200


async def test_a_certificate_that_expires_is_refused_from_then_on(
    service: RunningService, authority: Certified, clock: Clock
) -> None:
    shown = authority.issue(until=DAY)
    assert (await ask(service, shown)).status == 200
    clock.forward(days=2)
    assert (await ask(service, shown)).refusal == (401, "invalid_client")


async def test_an_unknown_client_is_refused_though_its_authority_is_known(
    service: RunningService, shop: Certified
) -> None:
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
    registry = service.features.shared.registry
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
        assert not service.features.shared.registry.reload()
        assert (await ask(service, shop)).status == 200
    finally:
        rewrite(authority_file, authority)
