"""Devices with what else the service does: details, registered clients, limits, signed requests (RFC 8628 §3.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.events.authorizations import AuthorizationGranted, ConsentGiven
from service.model.polling import DEVICE_CODE
from tests.device.tv import PATH, Television, ask_for_codes
from tests.driving.browser import Browser
from tests.driving.registering import register
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.request_objects.sending import jwks
from tests.rich_requests.details import ACCOUNTS, PAYMENT, add_types

pytestmark = pytest.mark.rfc("8628#3.1")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    add_types(config)
    types = ["payment_initiation", "account_information"]
    client_in(config, "tv")["authorization_details_types"] = types
    client_in(config, "box2").update(jwks=jwks(), require_signed_request_object=True)
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    return config


@pytest.mark.rfc("9396#2")
async def test_details_are_shown_and_granted(service: RunningService, browser: Browser) -> None:
    asked = json.dumps([PAYMENT, ACCOUNTS])
    tv = await Television.switch_on(service, browser, scope=None, authorization_details=asked)
    page = await tv.confirmation()
    assert page.has("authorization-details")
    assert "Pay 123.50 EUR to Merchant A" in page.text
    await browser.submit(page, action="allow")
    (granted,) = (each for each in service.events if isinstance(each, AuthorizationGranted))
    (consented,) = (each for each in service.events if isinstance(each, ConsentGiven))
    types = {PAYMENT["type"], ACCOUNTS["type"]}
    assert set(granted.authorization_details_types) == types
    assert set(consented.authorization_details_types) == types
    assert (consented.scope, consented.remembered) == (frozenset(), False)
    narrowed = await tv.poll(authorization_details=json.dumps([ACCOUNTS]))
    assert narrowed["authorization_details"] == [ACCOUNTS]
    assert claims_in(narrowed["access_token"])["authorization_details"] == [ACCOUNTS]


@pytest.mark.rfc("7591#2")
async def test_a_client_registers_for_devices_and_is_shown_as_unverified(
    service: RunningService, browser: Browser
) -> None:
    metadata: dict[str, Any] = {
        "redirect_uris": None,
        "response_types": [],
        "client_name": "Your bank",
        "token_endpoint_auth_method": "none",
        "grant_types": [DEVICE_CODE],
        "scope": "openid api1",
    }
    registered = await register(service, **metadata)
    assert registered.status == 201, registered.body
    form = {"client_id": registered["client_id"], "scope": "api1"}
    codes = await service.post(PATH, **form)
    page = await browser.log_in(await browser.get(codes["verification_uri_complete"]))
    assert page.has("stranger")
    assert "“Your bank”" in page.text
    await browser.submit(page, action="allow")
    form = {"client_id": registered["client_id"], "device_code": codes["device_code"]}
    assert (await service.post("/connect/token", grant_type=DEVICE_CODE, **form)).status == 200


async def test_a_client_that_signs_its_requests_gets_no_codes_for_unsigned_ones(
    service: RunningService,
) -> None:
    refused = await ask_for_codes(service, "box2", scope="api1")
    assert refused.refusal == (400, "unauthorized_client")


@pytest.mark.usefixtures("fresh_minute")
class TestLimits:
    """Anybody can send the requests of a public client."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["limits"] = {"parked_requests_per_minute": 2, "token_requests_per_minute": 3}
        return config

    async def test_public_clients_requests_count_for_their_network(
        self, service: RunningService
    ) -> None:
        answers = [await ask_for_codes(service, scope="api1") for _ in range(3)]
        assert [answer.status for answer in answers] == [200, 200, 429]
        assert answers[-1].error == "temporarily_unavailable"
        assert int(answers[-1].headers["Retry-After"]) > 0

    async def test_a_confidential_clients_requests_count_for_itself(
        self, service: RunningService
    ) -> None:
        answers = [await ask_for_codes(service, "box", scope="api1") for _ in range(4)]
        assert [answer.status for answer in answers] == [200, 200, 200, 429]
