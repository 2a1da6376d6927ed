"""ID tokens name the session for clients that do something with it (Front-Channel Logout §3, Back-Channel Logout §2.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.token_exchange.exchanging import EXCHANGE

pytestmark = pytest.mark.rfc("openid-frontchannel#3", "openid-backchannel#2.1", "openid-core#2")

ORIGIN = "https://consenting.example"
USES: dict[str, dict[str, Any]] = {
    "front-channel logout": {"frontchannel_logout_uri": f"{ORIGIN}/front"},
    "back-channel logout": {"backchannel_logout_uri": f"{ORIGIN}/back"},
    "logout by the client": {"post_logout_redirect_uris": [f"{ORIGIN}/bye"]},
    "token exchange": {"allowed_grant_types": ["authorization_code", EXCHANGE]},
}


@pytest.fixture
def config(request: pytest.FixtureRequest, config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "consenting").update(getattr(request, "param", {}))
    return config


async def names_session(service: RunningService, browser: Browser) -> bool:
    """Whether an ID token of the client names the session; its access token always does."""
    app = ClientApp(service, browser, "consenting")
    page = await app.browser.submit(await app.login(), action="allow")
    tokens = await app.redeem(page.parameters["code"])
    assert "sid" in claims_in(tokens["access_token"])
    return "sid" in claims_in(tokens["id_token"])


async def test_a_client_that_only_signs_in_gets_no_session_id(
    service: RunningService, browser: Browser
) -> None:
    assert not await names_session(service, browser)


@pytest.mark.parametrize("config", USES.values(), ids=USES, indirect=True)
async def test_a_client_that_uses_the_session_gets_its_id(
    service: RunningService, browser: Browser
) -> None:
    assert await names_session(service, browser)
