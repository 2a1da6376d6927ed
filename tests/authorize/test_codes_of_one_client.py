"""A client has a bounded number of codes for one user: a script with the user's cookie begins no thousands of authorizations."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.authorizations import AuthorizationEnded
from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

MOST = 3
MORE = 5


@pytest.fixture
def config(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr("service.store.stores.MAX_CODES", MOST)
    return config


async def test_the_codes_that_expire_first_end_with_their_authorizations(
    clock: Clock, app: ClientApp, service: RunningService, events: list[object]
) -> None:
    codes = [await app.code()]
    for _ in range(MORE - 1):
        clock.forward(seconds=1)
        codes.append(await app.code())
    assert len([one for one in events if isinstance(one, AuthorizationEnded)]) == MORE - MOST
    assert len(await service.features.shared.authorizations.find_all_of("818727")) == MOST
    answers = [await app.redeem(code) for code in codes]
    refused = (400, "invalid_grant")
    assert [answer.refusal for answer in answers] == [refused] * 2 + [(200, None)] * MOST


async def test_a_redeemed_code_keeps_its_tokens(app: ClientApp, service: RunningService) -> None:
    tokens = [await app.tokens() for _ in range(MORE)]
    active = [await service.is_active(one["access_token"]) for one in tokens]
    assert active == [True] * MORE


async def test_each_client_has_codes_of_its_own(app: ClientApp, app_of: Any) -> None:
    code = await app.code()
    for _ in range(MORE):
        await app_of("spa").code()
    assert (await app.redeem(code)).status == 200
