"""A UserStore of an operator keeps the second factors of its users itself (`FactorStore`), and a failure of it does not count as a missing factor."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from service.model.factors import Factors
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService, claims_in
from tests.factors.conftest import PATH
from tests.factors.keyring import enrol as enrol_passkey
from tests.factors.keyring import use
from tests.factors.phone import ALICE
from tests.factors.test_enrolment import SECURITY, enrol
from tests.users.switched import SwitchedUsers

pytestmark = [pytest.mark.rfc("8176#2"), pytest.mark.usefixtures("always_probing")]


class UsersWithFactors(SwitchedUsers):
    """Keeps the factors with the users, as a column of their table."""

    def __init__(self) -> None:
        super().__init__()
        self.factors: dict[str, Factors] = {}
        self.reads: list[str] = []

    async def find_factors(self, sub: str) -> Factors:
        await self.by_subject(sub)
        self.reads.append(sub)
        return self.factors.get(sub, Factors())

    async def replace_factors(self, sub: str, factors: Factors, *, instead_of: str) -> bool:
        await self.by_subject(sub)
        if self.factors.get(sub, Factors()).version != instead_of:
            return False
        self.factors[sub] = factors
        return True


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    source = f"{UsersWithFactors.__module__}:{UsersWithFactors.__name__}"
    return config | {"users": {"source": source, "timeout": "30s"}}


async def test_app_is_kept_by_the_user_store_and_asked_for(
    app: ClientApp, browser: Browser, service: RunningService, store: UsersWithFactors
) -> None:
    phone, _ = await enrol(browser, await browser.log_in(await browser.get(SECURITY)))
    kept = store.factors[ALICE]
    assert kept.totp is not None
    assert (kept.totp.secret, len(kept.recovery_codes)) == (phone.secret, 10)
    assert [key async for key in service.features.shared.kv.find_keys("*:fa")] == []
    browser.forget_cookies()
    half = await app.login()
    assert half.path == PATH
    code = phone.code(steps_ahead=1)
    pages = await asyncio.gather(*[browser.submit(half, otp=code) for _ in range(3)])
    (done,) = [page for page in pages if "code" in page.parameters]
    claims = claims_in((await app.redeem(done.parameters["code"]))["id_token"])
    assert claims["amr"] == ["pwd", "otp", "mfa"]


async def test_one_request_reads_the_factors_of_a_user_once(
    app: ClientApp, browser: Browser, store: UsersWithFactors
) -> None:
    phone, _ = await enrol(browser, await browser.log_in(await browser.get(SECURITY)))
    browser.forget_cookies()
    half = await app.login()
    store.reads.clear()
    assert "code" in (await browser.submit(half, otp=phone.code(steps_ahead=1))).parameters
    assert store.reads == [ALICE]


async def test_user_store_is_asked_before_a_session_gets_a_code(
    app: ClientApp, store: UsersWithFactors
) -> None:
    await app.login()
    store.reads.clear()
    assert "code" in (await app.authorize(prompt="none")).parameters
    assert store.reads == [ALICE]


async def test_passkey_is_kept_by_the_user_store_and_signs_in_alone(
    app: ClientApp, service: RunningService, store: UsersWithFactors
) -> None:
    mine = await enrol_passkey(service)
    assert [one.name for one in store.factors[ALICE].passkeys] == ["Key"]
    assert "code" in (await use(app.browser, await app.authorize(), mine)).parameters


@pytest.mark.parametrize("trouble", [OSError("away"), ValueError("broken")], ids=["away", "broken"])
async def test_factors_that_cannot_be_read_are_not_none(
    app: ClientApp,
    browser: Browser,
    store: UsersWithFactors,
    monkeypatch: pytest.MonkeyPatch,
    trouble: Exception,
) -> None:
    async def fail(*_: object) -> Factors:
        raise trouble

    monkeypatch.setattr(UsersWithFactors, "find_factors", fail)
    page = await browser.log_in(await app.authorize())
    assert page.status == 503
    assert "sid" not in browser.cookies
    monkeypatch.undo()
    assert "code" in (await app.login()).parameters, store.factors
