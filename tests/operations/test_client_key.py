"""The audit log names the key that has authenticated the client of a request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.signing import Signer, key_of
from tests.driving.authority import self_signed
from tests.driving.registry import client_in
from tests.driving.service import RunningService

CERTIFIED = self_signed("CN=certified")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A client with a key, and one with a certificate."""
    machine = client_in(config, "machine") | {"client_secrets": []}
    keyed = machine | {"client_id": "keyed", "jwks": {"keys": [key_of("ES256").public_jwk]}}
    certified = machine | {
        "client_id": "certified",
        "token_endpoint_auth_method": "self_signed_tls_client_auth",
        "self_signed_certificates": [CERTIFIED.pem],
    }
    config["clients"] += [keyed, certified]
    config["server"] = {
        "trusted_proxies": ["127.0.0.1"],
        "client_certificate_header": "Client-Cert",
    }
    return config


def keys_in(capfd: pytest.CaptureFixture[str], event: str) -> list[Any]:
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    return [line.get("client_key") for line in lines if line["event"] == event]


async def test_the_key_of_an_assertion_is_named_by_its_id(
    service: RunningService, capfd: pytest.CaptureFixture[str]
) -> None:
    assert (await Signer(service, "keyed", "ES256").ask()).status == 200
    assert keys_in(capfd, "token_issued") == [{"kid": key_of("ES256").kid}]


async def test_a_certificate_is_named_by_its_thumbprint(
    service: RunningService, capfd: pytest.CaptureFixture[str]
) -> None:
    form = {"client_id": "certified", "grant_type": "client_credentials"}
    answer = await service.post("/connect/token", headers=CERTIFIED.headers(), **form)
    assert answer.status == 200
    assert keys_in(capfd, "token_issued") == [{"x5t#S256": CERTIFIED.thumbprint}]


async def test_a_refusal_after_the_authentication_names_the_key(
    service: RunningService, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = await Signer(service, "keyed", "ES256").ask(grant_type="password")
    assert answer.refusal == (400, "unauthorized_client")
    assert keys_in(capfd, "token_refused") == [{"kid": key_of("ES256").kid}]


async def test_a_key_that_proves_nothing_is_not_named(
    service: RunningService, capfd: pytest.CaptureFixture[str]
) -> None:
    signer = Signer(service, "keyed", "ES256")
    answer = await signer.ask(await signer.assertion(number=1))
    assert answer.refusal == (401, "invalid_client")
    assert keys_in(capfd, "token_refused") == [None]


async def test_the_next_request_on_the_connection_does_not_inherit_the_key(
    service: RunningService, capfd: pytest.CaptureFixture[str]
) -> None:
    await Signer(service, "keyed", "ES256").ask()
    await service.token("machine", grant_type="client_credentials", scope="api1")
    assert keys_in(capfd, "token_issued") == [{"kid": key_of("ES256").kid}, None]
