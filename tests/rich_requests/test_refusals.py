"""Authorization details that a client may not have are invalid_authorization_details, wherever they are asked for (RFC 9396 §5, §8)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from service.model.events import TokenRefused
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.rich_requests.details import PAYMENT, Asking, encode

pytestmark = pytest.mark.rfc("9396#5", "9396#8")

CODE = "invalid_authorization_details"


def nested(levels: int) -> Any:
    """Objects and arrays within one another."""
    value: Any = "deep"
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


WRONG = {
    "no JSON": "[{",
    "not a number of JSON": '[{"type": "payment_initiation", "a": NaN}]',
    "a number that is too large": '[{"type": "payment_initiation", "a": 1e999}]',
    "an integer that is too large": '[{"type": "payment_initiation", "a": 99999999999999999999}]',
    "half a character": '[{"type": "payment_initiation", "creditorName": "\\ud800"}]',
    "an object": json.dumps(PAYMENT),
    "text": '"payment_initiation"',
    "null": "null",
    "an empty array": "[]",
    "an array of text": '["payment_initiation"]',
    "no type": encode({"actions": ["read"]}),
    "a type that is no text": encode(PAYMENT | {"type": 1}),
    "an unknown type": encode(PAYMENT, {"type": "unknown"}),
    "an unknown member": encode(PAYMENT | {"urgent": True}),
    "a missing member": encode({"type": "payment_initiation"}),
    "a member of another type": encode(PAYMENT | {"creditorName": 1}),
    "a value that does not fit": encode(
        PAYMENT | {"instructedAmount": {"currency": "eur", "amount": "1"}}
    ),
    "one of several that does not fit": encode(PAYMENT, PAYMENT | {"actions": []}),
    "too long": encode(PAYMENT | {"creditorName": "x" * 8192}),
    "too long in bytes": json.dumps([PAYMENT | {"creditorName": "€" * 2700}], ensure_ascii=False),
    "too many": encode(*[{"type": "account_information"}] * 51),
    "too deep": encode(PAYMENT | {"remittanceInformation": nested(20)}),
    "very deep": "[" * 4000 + "]" * 4000,
}
each_wrong = pytest.mark.parametrize("sent", WRONG.values(), ids=WRONG.keys())


@each_wrong
async def test_they_are_refused_at_the_token_endpoint(service: RunningService, sent: str) -> None:
    answer = await service.token(
        "machine", grant_type="client_credentials", scope="api1", authorization_details=sent
    )
    assert answer.refusal == (400, CODE)
    assert "access_token" not in answer.json


@each_wrong
async def test_they_are_refused_at_par(app: ClientApp, sent: str) -> None:
    form: dict[str, Any] = app.parameters(authorization_details=sent)
    answer = await app.service.post("/connect/par", auth="web", **form)
    assert answer.refusal == (400, CODE)


@each_wrong
async def test_they_are_refused_at_authorize_before_a_person_is_asked(
    app: ClientApp, sent: str
) -> None:
    form: dict[str, Any] = app.parameters(authorization_details=sent)
    page = await app.browser.post("/connect/authorize", form)
    assert page.url.startswith(app.redirect_uri)
    assert page.parameters["error"] == CODE
    assert page.parameters["state"] == "the-state"


async def test_the_limit_is_8_kib(asking: Asking) -> None:
    filler = 8192 - len(encode(PAYMENT | {"creditorName": ""}).encode())
    largest = PAYMENT | {"creditorName": '"' * (filler // 2) + "x" * (filler % 2)}
    assert len(encode(largest)) == 8192
    form = asking.app.parameters(authorization_details=encode(largest))
    page = await asking.app.browser.post("/connect/authorize", form)
    assert page.has("username")
    page = await asking.allow(await asking.app.browser.log_in(page))
    tokens = await asking.app.redeem(page.parameters["code"])
    assert tokens["authorization_details"] == [largest]


async def test_a_client_is_refused_a_type_that_is_not_in_its_list(
    app_of: Callable[[str], ClientApp],
) -> None:
    page = await app_of("consenting").authorize(authorization_details=encode(PAYMENT))
    assert page.parameters["error"] == CODE


async def test_a_client_for_itself_is_refused_a_type_that_is_not_in_its_list(
    service: RunningService,
) -> None:
    answer = await service.token(
        "gateway", grant_type="delegation", token="x", scope="api2",
        authorization_details=encode(PAYMENT),
    )  # fmt: skip
    assert answer.refusal == (400, CODE)


@pytest.mark.parametrize(
    "form",
    [
        {"grant_type": "password", "username": "alice", "password": "alice-password"},
        {"grant_type": "password", "username": "alice", "password": "wrong"},
    ],
    ids=["right password", "wrong password"],
)
async def test_a_grant_that_asks_nobody_takes_no_details(
    service: RunningService, form: dict[str, str]
) -> None:
    answer = await service.token(
        "frontend", scope="api1", authorization_details=encode(PAYMENT), **form
    )
    assert answer.refusal == (400, CODE)


async def test_an_extension_grant_takes_no_details(asking: Asking) -> None:
    tokens = await asking.app.tokens()
    answer = await asking.app.service.token(
        "api1",
        grant_type="delegation",
        token=tokens["access_token"],
        scope="api2",
        authorization_details=encode(PAYMENT),
    )
    assert answer.refusal == (400, CODE)


async def test_they_are_sent_once(service: RunningService) -> None:
    answer = await service.token(
        "machine",
        grant_type="client_credentials",
        authorization_details=[encode(PAYMENT), encode(PAYMENT)],
    )
    assert answer.refusal == (400, "invalid_request")


async def test_an_id_token_alone_carries_none(app_of: Callable[[str], ClientApp]) -> None:
    page = await app_of("implicit").authorize(
        response_type="id_token", scope="openid", authorization_details=encode(PAYMENT)
    )
    assert page.parameters["error"] == "invalid_request"


async def test_a_resource_that_understands_none_of_them_is_refused(
    service: RunningService,
) -> None:
    answer = await service.token(
        "machine",
        grant_type="client_credentials",
        authorization_details=encode(PAYMENT),
        resource="accounts",
    )
    assert answer.refusal == (400, "invalid_target")


async def test_a_refusal_repeats_nothing_and_is_logged_with_the_type(
    service: RunningService, events: list[object]
) -> None:
    answer = await service.token(
        "machine",
        grant_type="client_credentials",
        authorization_details=encode({"type": "payments", "creditorName": "Mallory"}),
    )
    assert b"Mallory" not in answer.body
    assert b"payments" not in answer.body
    (refused,) = [event for event in events if isinstance(event, TokenRefused)]
    assert (refused.parameter, refused.value) == ("authorization_details", "payments")
