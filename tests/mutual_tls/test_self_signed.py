"""self_signed_tls_client_auth: the registered key or certificate, and no authority (RFC 8705 §2.2)."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from tests.conftest import Clock, Start
from tests.driving.authority import DAY, Certified, self_signed
from tests.driving.key_server import publishing
from tests.driving.service import Answer, RunningService
from tests.mutual_tls.conftest import certified_client

pytestmark = pytest.mark.rfc("8705#2.2")

METHOD = "self_signed_tls_client_auth"


@pytest.fixture(scope="session")
def own() -> Certified:
    """The client's certificate."""
    return self_signed("CN=anything")


def registered(own: Certified) -> dict[str, dict[str, Any]]:
    """The ways to register it."""
    return {
        "pem": {"self_signed_certificates": [own.pem]},
        "thumbprint": {"self_signed_certificates": [own.thumbprint]},
        "x5c": {"jwks": {"keys": [self_signed().jwk, own.jwk]}},
    }


WAYS = ("pem", "thumbprint", "x5c")


@pytest.fixture
def config(config: dict[str, Any], own: Certified) -> dict[str, Any]:
    for name, keys in registered(own).items():
        certified_client(config, name, token_endpoint_auth_method=METHOD, **keys)
    return config


async def ask(service: RunningService, shown: Certified | None, client_id: str) -> Answer:
    headers = shown.headers() if shown else None
    form = {"grant_type": "client_credentials", "scope": "api1", "client_id": client_id}
    return await service.post("/connect/token", headers=headers, **form)


@pytest.mark.parametrize("way", WAYS)
async def test_a_client_authenticates_by_the_certificate_that_it_registered(
    service: RunningService, own: Certified, way: str
) -> None:
    assert (await ask(service, own, way)).status == 200


@pytest.mark.parametrize("way", WAYS)
async def test_a_new_certificate_of_the_same_key_counts_where_the_key_is_known(
    service: RunningService, own: Certified, way: str
) -> None:
    renewed = self_signed("CN=renewed", key=own.key)
    answer = await ask(service, renewed, way)
    assert answer.status == (401 if way == "thumbprint" else 200)


@pytest.mark.parametrize("way", WAYS)
async def test_a_certificate_that_is_not_valid_now_is_refused(
    service: RunningService, own: Certified, clock: Clock, way: str
) -> None:
    for moved in ({"days": 60}, {"days": -120}):
        clock.forward(**moved)
        assert (await ask(service, own, way)).refusal == (401, "invalid_client")


async def test_a_certificate_of_an_authority_does_not_help(
    start: Start, config: dict[str, Any], shop: Certified
) -> None:
    certified_client(config, "both", token_endpoint_auth_method=METHOD)
    config["clients"][-1]["self_signed_certificates"] = [self_signed().pem]
    assert (await ask(await start(config), shop, "both")).refusal == (401, "invalid_client")


async def test_a_rotated_certificate_is_fetched_from_jwks_uri(
    start: Start, config: dict[str, Any], clock: Clock
) -> None:
    first, second, third = (self_signed("CN=x", until=60 * DAY) for _ in range(3))
    async with publishing() as server:
        server.publish(first.jwk)
        uri = server.url
        certified_client(config, "rotating", token_endpoint_auth_method=METHOD, jwks_uri=uri)
        service = await start(config)
        assert (await ask(service, first, "rotating")).status == 200
        server.publish(first.jwk, second.jwk)
        assert (await ask(service, second, "rotating")).status == 200
        assert len(server.asked) == 2
        for _ in range(3):  # a stranger causes no further request before the pause is over
            assert (await ask(service, third, "rotating")).refusal == (401, "invalid_client")
        assert len(server.asked) == 2
        server.publish(first.jwk)
        clock.forward(minutes=1)
        assert (await ask(service, third, "rotating")).refusal == (401, "invalid_client")
        assert len(server.asked) == 3
        server.publish(third.jwk)
        clock.forward(minutes=10)
        assert (await ask(service, third, "rotating")).status == 200
        assert (await ask(service, first, "rotating")).refusal == (401, "invalid_client")


@pytest.mark.rfc("5280#4.1.2.5")
async def test_a_certificate_that_ends_in_the_year_0_is_refused(
    service: RunningService, own: Certified
) -> None:
    renewed = self_signed(key=own.key, until=20_000 * DAY)
    year = str(renewed.certificate.not_valid_after_utc.year).encode()
    der = renewed.der.replace(b"\x18\x0f" + year, b"\x18\x0f0000")
    headers = {"Client-Cert": f":{b64encode(der).decode()}:"}
    form = {"grant_type": "client_credentials", "client_id": "x5c"}
    answer = await service.post("/connect/token", headers=headers, **form)
    assert answer.refusal == (400, "invalid_request")
