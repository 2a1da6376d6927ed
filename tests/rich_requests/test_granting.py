"""Authorization details are granted by a person, and come back with the tokens (RFC 9396 §3, §6, §7, §9)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from service.events.authorizations import AuthorizationGranted
from service.events.tokens import TokenIssued
from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.client_app import PUBLIC, ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.request_objects.sending import Sender, jwks
from tests.rich_requests.details import ACCOUNTS, PAYMENT, Asking, encode

pytestmark = pytest.mark.rfc("9396#3", "9396#7", "9396#9")

OFFLINE = "openid api1 offline_access"


async def test_granted_details_are_in_the_response_and_in_a_jwt(asking: Asking) -> None:
    tokens = await asking.tokens(PAYMENT)
    assert tokens["authorization_details"] == [PAYMENT]
    claims = claims_in(tokens["access_token"])
    assert claims["authorization_details"] == [PAYMENT]
    assert claims["aud"] == ["api1", "payments"]
    assert claims["scope"] == tokens["scope"] == "api1 openid"


async def test_details_need_no_scope(asking: Asking) -> None:
    tokens = await asking.tokens(PAYMENT, scope=None)
    claims = claims_in(tokens["access_token"])
    assert claims["aud"] == "payments"
    assert "scope" not in claims
    assert "scope" not in tokens.json


@pytest.mark.parametrize("client_id", ["web", "spa"])
async def test_a_pushed_request_asks_for_details(
    app_of: Callable[[str], ClientApp], client_id: str
) -> None:
    app = app_of(client_id)
    form: dict[str, Any] = app.parameters(authorization_details=encode(PAYMENT))
    auth = None if client_id in PUBLIC else client_id
    pushed = await app.service.post("/connect/par", auth=auth, **form)
    query = f"?client_id={client_id}&request_uri={pushed['request_uri']}"
    page = await app.browser.get(f"/connect/authorize{query}")
    page = await app.browser.submit(await app.browser.log_in(page), action="allow")
    tokens = await app.redeem(page.parameters["code"])
    assert tokens["authorization_details"] == [PAYMENT]


async def test_a_request_object_asks_for_details(start: Start, config: dict[str, Any]) -> None:
    client_in(config, "web")["jwks"] = jwks()
    service = await start(config)
    browser = Browser(service.issuer)
    app = ClientApp(service, browser)
    sender = Sender(app)
    page = await sender.sign_in(await sender.signed(authorization_details=[PAYMENT]))
    page = await browser.submit(page, action="allow")
    assert (await app.redeem(page.parameters["code"]))["authorization_details"] == [PAYMENT]
    await browser.close()


async def test_an_access_token_in_the_fragment_comes_with_its_details_as_json(
    app_of: Callable[[str], ClientApp],
) -> None:
    asking = Asking(app_of("implicit"))
    page = await asking.page(PAYMENT, response_type="id_token token")
    answer = (await asking.allow(page)).parameters
    assert json.loads(answer["authorization_details"]) == [PAYMENT]
    assert claims_in(answer["access_token"])["authorization_details"] == [PAYMENT]


@pytest.mark.parametrize("client_id", ["machine", "robot"])
async def test_a_client_asks_for_itself(service: RunningService, client_id: str) -> None:
    tokens = await service.token(
        client_id,
        grant_type="client_credentials",
        authorization_details=encode(PAYMENT),
    )
    assert tokens["authorization_details"] == [PAYMENT]
    assert "scope" not in tokens.json
    found = await service.introspect(tokens["access_token"], caller="payments")
    assert found["authorization_details"] == [PAYMENT]
    assert found["aud"] == "payments"


async def test_a_client_asks_for_itself_with_a_scope(service: RunningService) -> None:
    tokens = await service.token(
        "machine",
        grant_type="client_credentials",
        scope="api1",
        authorization_details=encode(ACCOUNTS),
    )
    assert tokens["scope"] == "api1"
    assert claims_in(tokens["access_token"])["aud"] == ["accounts", "api1"]


@pytest.mark.rfc("9396#9.2")
@pytest.mark.parametrize("reference", [False, True], ids=["jwt", "reference"])
async def test_an_api_is_shown_its_own_details_only(
    start: Start, config: dict[str, Any], reference: bool
) -> None:
    client_in(config, "machine")["access_token_type"] = "reference" if reference else "jwt"
    service = await start(config)
    tokens = await service.token(
        "machine",
        grant_type="client_credentials",
        scope="api1",
        authorization_details=encode(PAYMENT, ACCOUNTS),
    )
    shown = {
        api: (await service.introspect(tokens["access_token"], caller=api)).json
        for api in ("payments", "accounts", "api1", "api2", "machine")
    }
    assert shown["payments"]["authorization_details"] == [PAYMENT]
    assert shown["accounts"]["authorization_details"] == [ACCOUNTS]
    assert "scope" not in shown["payments"]
    assert "authorization_details" not in shown["api1"]
    assert shown["api1"]["scope"] == "api1"
    assert shown["api2"] == {"active": False}
    assert shown["machine"]["authorization_details"] == [PAYMENT, ACCOUNTS]


async def test_a_resource_selects_its_details(asking: Asking) -> None:
    code = await asking.code(PAYMENT, ACCOUNTS)
    tokens = await asking.app.redeem(code, resource="payments")
    assert tokens["authorization_details"] == [PAYMENT]
    assert claims_in(tokens["access_token"])["aud"] == "payments"


async def test_details_survive_a_refresh(asking: Asking) -> None:
    tokens = await asking.tokens(PAYMENT, ACCOUNTS, scope=OFFLINE)
    again = await asking.app.refresh(tokens["refresh_token"])
    assert again["authorization_details"] == [PAYMENT, ACCOUNTS]
    assert claims_in(again["access_token"])["authorization_details"] == [PAYMENT, ACCOUNTS]
    found = await asking.app.service.introspect(again["refresh_token"], caller="web")
    assert found["authorization_details"] == [PAYMENT, ACCOUNTS]


async def test_a_refresh_token_for_details_alone(asking: Asking) -> None:
    tokens = await asking.tokens(PAYMENT, scope="offline_access")
    again = await asking.app.refresh(tokens["refresh_token"])
    assert again["authorization_details"] == [PAYMENT]


async def test_a_delegated_token_has_no_details(asking: Asking) -> None:
    tokens = await asking.tokens(PAYMENT)
    delegated = await asking.app.service.token(
        "api1", grant_type="delegation", token=tokens["access_token"], scope="api2"
    )
    assert delegated.status == 200
    assert "authorization_details" not in claims_in(delegated["access_token"])


async def test_discovery_lists_the_types(service: RunningService) -> None:
    metadata = await service.get("/.well-known/openid-configuration")
    types = metadata["authorization_details_types_supported"]
    assert types == ["account_information", "payment_initiation"]


async def test_the_log_names_the_types_that_were_granted_and_nothing_else(
    asking: Asking, events: list[object]
) -> None:
    await asking.tokens(PAYMENT, PAYMENT, ACCOUNTS)
    told = [one for one in events if isinstance(one, AuthorizationGranted | TokenIssued)]
    types = ("account_information", "payment_initiation")
    assert [one.authorization_details_types for one in told] == [types, types]
    assert "Merchant A" not in str(events)


async def test_the_log_names_no_types_where_none_were_granted(
    asking: Asking, events: list[object]
) -> None:
    await asking.app.tokens()
    told = [one for one in events if isinstance(one, AuthorizationGranted | TokenIssued)]
    assert len(told) == 2
    assert b"authorization_details" not in msgspec.json.encode(told)
