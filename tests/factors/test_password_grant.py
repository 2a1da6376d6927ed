"""The password grant for a person with a second factor needs it, too (RFC 6749 §4.3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService, claims_in
from tests.factors.phone import Phone

pytestmark = pytest.mark.rfc("6749#4.3.2", "8176#2")

REFUSED = (400, "invalid_grant")


@pytest.mark.usefixtures("phone")
@pytest.mark.parametrize("otp", [None, "", "123", "9" * 64], ids=str)
async def test_password_without_the_code_is_refused_like_a_wrong_password(
    service: RunningService, otp: str | None
) -> None:
    form = {} if otp is None else {"otp": otp}
    answer = await service.user_token(**form)
    wrong = await service.token(
        "frontend", grant_type="password", username="alice", password="wrong", scope="api1"
    )
    assert (answer.refusal, answer.json) == (REFUSED, wrong.json)


async def test_code_goes_with_the_password_and_counts_once(
    service: RunningService, phone: Phone
) -> None:
    code = phone.code()
    answer = await service.user_token(otp=code)
    assert claims_in(answer["access_token"])["amr"] == ["pwd", "otp", "mfa"]
    assert (await service.user_token(otp=code)).refusal == REFUSED


async def test_right_code_with_a_wrong_password_is_refused_and_not_consumed(
    service: RunningService, phone: Phone
) -> None:
    code = phone.code()
    form = {"username": "alice", "password": "wrong", "scope": "api1", "otp": code}
    assert (await service.token("frontend", grant_type="password", **form)).refusal == REFUSED
    assert (await service.user_token(otp=code)).status == 200


async def test_recovery_code_is_no_otp_of_the_password_grant(
    service: RunningService, phone: Phone
) -> None:
    answer = await service.user_token(otp=phone.recovery_codes[0])
    assert answer.refusal == REFUSED


async def test_code_of_a_person_without_a_factor_is_ignored(service: RunningService) -> None:
    answer = await service.user_token(otp="000000")
    assert claims_in(answer["access_token"])["amr"] == ["pwd"]


async def test_code_that_is_too_long_is_an_invalid_request(service: RunningService) -> None:
    assert (await service.user_token(otp="9" * 65)).refusal == (400, "invalid_request")


async def test_wrong_codes_lock_the_second_factor_and_not_the_password(
    service: RunningService, phone: Phone
) -> None:
    for _ in range(5):
        assert (await service.user_token(otp=phone.wrong_code())).refusal == REFUSED
    assert (await service.user_token(otp=phone.code())).refusal == REFUSED
    other = await service.token(
        "frontend", grant_type="password", username="bob", password="bob-password", scope="api1"
    )
    assert other.status == 200


@pytest.mark.parametrize(
    ("mfa_required", "enrolled", "status"),
    [("never", True, 200), ("always", False, 400), ("enrolled", False, 200)],
)
async def test_client_says_whether_a_factor_is_needed(
    start: Start, mfa_required: str, enrolled: bool, status: int
) -> None:
    configuration: dict[str, Any] = fresh_configuration()
    client_in(configuration, "frontend")["mfa_required"] = mfa_required
    service = await start(configuration)
    if enrolled:
        await Phone().enrol(service)
    assert (await service.user_token()).status == status
