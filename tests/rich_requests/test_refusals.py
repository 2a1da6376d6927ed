"""Authorization details that a client may not have are invalid_authorization_details, wherever they are asked for (RFC 9396 §5, §8)."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.tokens import TokenRefused
from service.model.polling import DEVICE_CODE
from tests.ciba.consumption import CIBA
from tests.conftest import Start
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService
from tests.rich_requests.details import ACCOUNTS, PAYMENT, Asking, encode

pytestmark = pytest.mark.rfc("9396#5", "9396#8")

CODE = "invalid_authorization_details"


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


WRONG = PAYMENT | {"instructedAmount": {"currency": "EUR"}}
PLACES = {
    "#/required (instructedAmount)": {"type": "payment_initiation"},
    "#/properties/instructedAmount/required (amount)": WRONG,
    "#/properties/creditorName/type": PAYMENT | {"creditorName": 1},
    "#/additionalProperties": PAYMENT | {"urgent-<secret>": True},
}


@pytest.mark.parametrize(("place", "detail"), PLACES.items(), ids=PLACES)
async def test_the_refusal_names_the_rule_of_the_schema_and_nothing_that_was_sent(
    service: RunningService, place: str, detail: dict[str, Any]
) -> None:
    answer = await service.token(
        "machine", grant_type="client_credentials", authorization_details=encode(detail)
    )
    assert answer.refusal == (400, CODE)
    expected = f"authorization_details[0] does not fit the schema of its type: see {place}"
    assert answer["error_description"] == expected


@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"in": ', "}")])
async def test_the_limit_is_16_levels(service: RunningService, opened: str, closed: str) -> None:
    def nested(levels: int) -> str:
        value = opened * levels + "1" + closed * levels
        return f'[{{"type": "account_information", "locations": {value}}}]'

    async def ask(levels: int) -> Answer:
        form = {"grant_type": "client_credentials", "scope": "api1"}
        return await service.token("machine", **form, authorization_details=nested(levels))

    assert (await ask(14)).status == 200  # within the object, and with the number in them
    assert (await ask(15)).refusal == (400, CODE)


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
async def test_grant_without_a_user_takes_no_details(
    service: RunningService, form: dict[str, str]
) -> None:
    answer = await service.token(
        "frontend", scope="api1", authorization_details=encode(PAYMENT), **form
    )
    assert answer.refusal == (400, CODE)


@pytest.mark.rfc("8707#2")
@pytest.mark.parametrize("asked", [[PAYMENT], [PAYMENT, ACCOUNTS]], ids=["all", "some"])
@pytest.mark.parametrize("endpoint", ["ciba", "deviceauthorization"])
async def test_details_for_another_resource_are_refused_wherever_a_user_is_asked_elsewhere(
    start: Start, config: dict[str, Any], endpoint: str, asked: list[dict[str, Any]]
) -> None:
    client_in(config, "web")["allowed_grant_types"] += [CIBA, DEVICE_CODE]
    service = await start(config)

    async def ask(*details: object, resource: str) -> Answer:
        form: dict[str, Any] = {"authorization_details": encode(*details), "resource": resource}
        form |= {"login_hint": "alice"} if endpoint == "ciba" else {}
        path = f"/connect/{endpoint}"
        return await service.post(path, auth="web", scope="openid", **form)

    assert (await ask(*asked, resource="accounts")).refusal == (400, CODE)
    assert (await ask(PAYMENT, resource="payments")).status == 200


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
