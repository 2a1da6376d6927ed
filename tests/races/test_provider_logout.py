"""A logout at the provider counts once, and no sign-in slips through during it, at however many replicas (OIDC Back-Channel Logout §2.6)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.identity_providers.conftest import fake, faked_config
from tests.identity_providers.fake_provider import BACKCHANNEL_LOGOUT, FakeProvider

__all__ = ["fake", "faked_config"]

pytestmark = pytest.mark.rfc("openid-backchannel#2.6")


@pytest.fixture
def config(faked_config: dict[str, Any]) -> dict[str, Any]:
    return faked_config


async def test_one_of_twenty_equal_logout_tokens_counts(
    replicas: list[RunningService], fake: FakeProvider
) -> None:
    token = await fake.logout_token()
    posts = [
        replicas[number % len(replicas)].post(BACKCHANNEL_LOGOUT, logout_token=token)
        for number in range(20)
    ]
    statuses = sorted(answer.status for answer in await asyncio.gather(*posts))
    assert statuses == [200] + [400] * 19


async def test_sign_in_during_a_logout_leaves_no_session(
    replicas: list[RunningService], fake: FakeProvider
) -> None:
    browser = Browser(replicas[0].issuer)
    app, elsewhere = ClientApp(replicas[0], browser), replicas[-1]
    for number in range(20):
        fake.claims = {"sid": f"session-{number}"}
        answer = fake.answer(await app.authorize(acr_values="idp:upstream"))
        out = fake.log_out(elsewhere, sid=fake.claims["sid"], sub=None)
        _, told = await asyncio.gather(browser.get(answer), out)
        assert told.status == 200
        assert (await app.authorize(prompt="none")).error == "login_required"
    await browser.close()
