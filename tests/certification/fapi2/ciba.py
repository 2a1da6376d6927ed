"""The suite as a client of FAPI-CIBA: it signs requests, polls, gets pings, and knows the user who answers."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.certification.fapi2.client import NO_CERTIFICATE, FapiClient
from tests.certification.fapi2.keys import SigningKey, identifier, times
from tests.certification.provider import ISSUER
from tests.driving.service import Answer

BACKCHANNEL = "backchannel_authentication_endpoint"
CIBA = "urn:openid:params:grant-type:ciba"
REQUESTS = "/account/requests"


def signed(client: FapiClient, key: SigningKey | None = None, **changes: Any) -> str:
    """A request object as the suite makes it, with some claims changed or (None) left out."""
    usual = {
        "scope": "openid email offline_access",
        "login_hint": "alice",
        "binding_message": "1234",
        "client_notification_token": NOTIFICATION_TOKEN,
        "iss": client.client_id,
        "aud": ISSUER,
        "jti": identifier(),
        **times(lifetime=300),
    }
    return (key or client.key).sign(usual | changes)


NOTIFICATION_TOKEN = "client-notification-token-of-the-suite"


async def send(client: FapiClient, request: str, **how: Any) -> Answer:
    """Send a request object to the backchannel authentication endpoint."""
    if client.plan.client_auth_type == "private_key_jwt":
        how.setdefault("certificate", NO_CERTIFICATE)
    return await client.send(BACKCHANNEL, {"request": request}, **how)


async def begin(client: FapiClient, **changes: Any) -> str:
    """A request that is accepted, checked as the suite checks it in every module (CIBA §7.3)."""
    answer = await send(client, signed(client, **changes))
    assert answer.status == 200, answer.body
    assert answer.headers["Content-Type"] == "application/json"
    assert answer["expires_in"] > 0
    assert answer["interval"] > 0
    auth_req_id = str(answer["auth_req_id"])
    assert len(auth_req_id) >= 27  # 160 bits
    assert set(auth_req_id) <= set("-._" + _ALPHANUMERIC)
    return auth_req_id


_ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


async def respond(client: FapiClient, auth_req_id: str, action: str = "allow") -> None:
    """The user signs in at the provider and answers."""
    page = await client.browser.get(f"{REQUESTS}/{auth_req_id[3:19]}")
    page = await client.browser.log_in(page) if page.has("login") else page
    await client.browser.submit(page, action=action)


async def poll(client: FapiClient, auth_req_id: str, **how: Any) -> Answer:
    """Ask for the tokens."""
    return await client.token({"grant_type": CIBA, "auth_req_id": auth_req_id}, **how)


async def pinged(client: FapiClient, auth_req_id: str) -> None:
    """Wait until this request has been announced."""
    expected = (f"Bearer {NOTIFICATION_TOKEN}", {"auth_req_id": auth_req_id})
    for _ in range(3000):
        if expected in client.provider.suite.pings:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("no ping came")
