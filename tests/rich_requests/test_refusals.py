"""Authorization details that a client may not have are invalid_authorization_details, wherever they are asked for (RFC 9396 §5, §8)."""

from __future__ import annotations

import pytest

from service.model.events import TokenRefused
from tests.driving.service import RunningService
from tests.rich_requests.details import PAYMENT, Asking, encode

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
