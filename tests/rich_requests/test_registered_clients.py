"""Clients register the types of authorization_details that they use (RFC 9396 §10, RFC 7591 §2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.browser import Browser
from tests.driving.registering import RegisteredApp
from tests.driving.service import RunningService
from tests.rich_requests.details import PAYMENT, Asking, encode

pytestmark = pytest.mark.rfc("9396#10", "7591#2")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Registration that is open to all."""
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    return config


@pytest.fixture
def registering(service: RunningService, browser: Browser) -> Callable[..., Any]:
    async def registered(**metadata: Any) -> RegisteredApp:
        metadata = {"authorization_details_types": ["payment_initiation"]} | metadata
        return await RegisteredApp.register(service, browser, **metadata)

    return registered


async def test_a_registered_client_asks_a_person_for_details(
    registering: Callable[..., Any],
) -> None:
    app = await registering()
    page = await app.login(authorization_details=encode(PAYMENT))
    page = await Asking(app).allow(page)
    tokens = await app.redeem(page.parameters["code"])
    assert tokens["authorization_details"] == [PAYMENT]


async def test_a_registered_client_is_refused_another_type(
    registering: Callable[..., Any],
) -> None:
    app = await registering()
    page = await app.authorize(authorization_details=encode({"type": "account_information"}))
    assert page.parameters["error"] == "invalid_authorization_details"


async def test_a_registered_client_gets_no_details_for_itself(
    registering: Callable[..., Any],
) -> None:
    app = await registering(grant_types=["client_credentials"], response_types=[])
    form = {"grant_type": "client_credentials", "scope": "api1"}
    client = (app.client_id, app.registered["client_secret"])
    refused = await app.service.token(client, authorization_details=encode(PAYMENT), **form)
    assert refused.refusal == (400, "invalid_authorization_details")
    assert (await app.service.token(client, **form)).status == 200


async def test_a_registered_client_is_refused_a_type_that_is_gone(
    registering: Callable[..., Any], service: RunningService, config: dict[str, Any]
) -> None:
    app = await registering()
    config["authorization_details_types"] = config["authorization_details_types"][1:]
    for client in config["clients"]:
        if "authorization_details_types" in client:
            client["authorization_details_types"] = ["account_information"]
    service.reload(config)
    page = await app.authorize(authorization_details=encode(PAYMENT))
    assert page.parameters["error"] == "invalid_authorization_details"
