"""A type that the operator takes from a client, or out of the registry, counts for what was issued before, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.rich_requests.details import ACCOUNTS, PAYMENT, PAYMENT_SCHEMA, TYPES, Asking, encode

pytestmark = pytest.mark.rfc("7662#2.2", "9396#9.2")

Reload = Callable[[], None]
OFFLINE = "openid api1 offline_access"


@pytest.fixture
def reload(service: RunningService, config: dict[str, Any]) -> Reload:
    """Put the changed registry in force."""

    def reload_registry() -> None:
        service.reload(config)

    return reload_registry


@pytest.fixture
def leave(config: dict[str, Any], reload: Reload) -> Callable[..., None]:
    """Leave a client these types."""

    def leave_types(client_id: str, *types: str) -> None:
        client_in(config, client_id)["authorization_details_types"] = list(types)
        reload()

    return leave_types


async def token_for_itself(service: RunningService, **form: str) -> str:
    asked = encode(PAYMENT, ACCOUNTS)
    form = {"grant_type": "client_credentials", "authorization_details": asked} | form
    return str((await service.token("machine", **form))["access_token"])


async def test_introspection_leaves_a_withdrawn_type_out(
    service: RunningService, leave: Callable[..., None]
) -> None:
    token = await token_for_itself(service)
    leave("machine", "account_information")
    assert not await service.is_active(token, caller="payments")
    shown = await service.introspect(token, caller="machine")
    assert shown["authorization_details"] == [ACCOUNTS]


async def test_a_token_is_inactive_when_all_that_it_is_for_was_withdrawn(
    service: RunningService, leave: Callable[..., None]
) -> None:
    token = await token_for_itself(service)
    leave("machine")
    assert not await service.is_active(token, caller="machine")


async def test_the_scope_of_a_token_outlives_its_details(
    service: RunningService, leave: Callable[..., None]
) -> None:
    token = await token_for_itself(service, scope="api1")
    leave("machine")
    shown = await service.introspect(token, caller="machine")
    assert shown["scope"] == "api1"
    assert "authorization_details" not in shown.json


async def test_a_refresh_leaves_a_withdrawn_type_out(
    asking: Asking, leave: Callable[..., None]
) -> None:
    tokens = await asking.tokens(PAYMENT, ACCOUNTS, scope=OFFLINE)
    leave("web", "account_information")
    again = await asking.app.refresh(tokens["refresh_token"])
    assert again["authorization_details"] == [ACCOUNTS]
    assert "payments" not in claims_in(again["access_token"])["aud"]


async def test_code_for_withdrawn_details_alone_is_refused_and_not_consumed(
    asking: Asking, leave: Callable[..., None]
) -> None:
    code = await asking.code(PAYMENT, scope=None)
    leave("web")
    assert (await asking.app.redeem(code)).refusal == (400, "invalid_grant")
    leave("web", "payment_initiation")
    assert (await asking.app.redeem(code)).status == 200


async def test_a_type_that_is_gone_is_in_no_new_token(
    asking: Asking, config: dict[str, Any], reload: Reload
) -> None:
    tokens = await asking.tokens(PAYMENT, ACCOUNTS, scope=OFFLINE)
    config["authorization_details_types"] = TYPES[1:]
    for client in config["clients"]:
        client["authorization_details_types"] = ["account_information"]
    reload()
    again = await asking.app.refresh(tokens["refresh_token"])
    assert again["authorization_details"] == [ACCOUNTS]


async def test_a_new_schema_is_for_new_requests(
    service: RunningService, config: dict[str, Any], reload: Reload
) -> None:
    token = await token_for_itself(service)
    stricter = PAYMENT_SCHEMA | {"required": ["type", "remittanceInformation"]}
    config["authorization_details_types"] = [TYPES[0] | {"schema": stricter}, TYPES[1]]
    reload()
    assert await service.is_active(token, caller="payments")
    form = {"grant_type": "client_credentials", "authorization_details": encode(PAYMENT)}
    refused = await service.token("machine", **form)
    assert refused.refusal == (400, "invalid_authorization_details")
