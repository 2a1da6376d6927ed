"""A client that registered itself gets logout tokens where the address policy allows it (Back-Channel Logout §2.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from service.events.users import BackChannelLogoutPostponed
from tests.driving.registering import RegisteredApp
from tests.driving.service import claims_in
from tests.logout.relying_party import RelyingParty

pytestmark = pytest.mark.rfc("openid-backchannel#2.2")

Registering = Callable[..., Any]


@pytest.fixture
def networks() -> list[str]:
    """Those that a test allows."""
    return []


@pytest.fixture
def config(config: dict[str, Any], networks: list[str]) -> dict[str, Any]:
    config["outgoing"] = {"allowed_networks": networks}
    return config


async def signed_out(registering: Registering, party: RelyingParty) -> dict[str, Any]:
    """Sign in at the client and out again; what the client knew of it."""
    app: RegisteredApp = await registering(
        backchannel_logout_uri=party.backchannel_logout_uri,
        backchannel_logout_session_required=True,
    )
    hint = str((await app.tokens(scope="openid"))["id_token"])
    await app.browser.get("/connect/endsession", params={"id_token_hint": hint})
    return claims_in(hint)


@pytest.mark.parametrize("networks", [["127.0.0.0/8", "::1/128"]], ids=["allowed"])
async def test_a_logout_token_is_sent_to_an_allowed_network(
    registering: Registering, party: RelyingParty
) -> None:
    known = await signed_out(registering, party)
    (claims,) = await party.claims()
    assert {name: claims[name] for name in ("aud", "sub", "sid")} == {
        name: known[name] for name in ("aud", "sub", "sid")
    }


async def test_no_logout_token_is_sent_to_another_network(
    registering: Registering, party: RelyingParty, events: list[object]
) -> None:
    await signed_out(registering, party)
    for _ in range(6000):
        if any(isinstance(event, BackChannelLogoutPostponed) for event in events):
            break
        await asyncio.sleep(0.02)
    else:
        raise AssertionError("nobody has tried")
    assert party.tokens == []
