"""Discovery says what responses can be, and clients register for it (JARM §3, §4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.registering import RegisteredApp, register
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.jarm.conftest import ENCRYPTED, PUBLIC_JWKS, Read, decrypt

DISCOVERY = "/.well-known/openid-configuration"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Registration that is open to all."""
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid"]}
    return config


@pytest.mark.rfc("jarm#4")
async def test_discovery_names_modes_and_algorithms(service: RunningService) -> None:
    document = (await service.get(DISCOVERY)).json
    modes = {"jwt", "query.jwt", "fragment.jwt", "form_post.jwt"}
    assert modes < set(document["response_modes_supported"])
    assert document["authorization_signing_alg_values_supported"] == ["ES256"]
    assert "ECDH-ES" in document["authorization_encryption_alg_values_supported"]
    assert "A128CBC-HS256" in document["authorization_encryption_enc_values_supported"]


@pytest.mark.rfc("jarm#4")
async def test_encryption_is_named_only_if_a_client_can_decrypt(
    start: Start, config: dict[str, Any]
) -> None:
    name = "authorization_encryption_alg_values_supported"
    config["registration"]["enabled"] = False
    assert name not in (await (await start(config)).get(DISCOVERY)).json
    client = client_in(config, "web")
    client |= ENCRYPTED
    assert (await (await start(config)).get(DISCOVERY))[name]


@pytest.mark.rfc("jarm#3")
async def test_a_client_registers_for_encrypted_responses(
    service: RunningService, browser: Browser, read: Read
) -> None:
    metadata = ENCRYPTED | {"authorization_signed_response_alg": "ES256"}
    app = await RegisteredApp.register(service, browser, **metadata)
    assert metadata.items() <= app.registered.items()
    page = await app.authorize(response_mode="jwt", prompt="none", scope="openid")
    claims = await read(page, app.client_id, response=decrypt(page.parameters["response"]))
    assert claims["error"] == "login_required"


@pytest.mark.rfc("jarm#3", "7591#3.2.1")
async def test_a_registered_client_is_told_the_defaults(service: RunningService) -> None:
    answer = await register(
        service, jwks=PUBLIC_JWKS, authorization_encrypted_response_alg="ECDH-ES"
    )
    assert answer["authorization_signed_response_alg"] == "ES256"
    assert answer["authorization_encrypted_response_enc"] == "A128CBC-HS256"
