"""Clients of all grants that end are told, those of grants that outlived their session too (OpenID Connect Back-Channel Logout §2.4, §2.5)."""

from __future__ import annotations

from typing import Any

import pytest

from service.identity.ending import UserEnding
from tests.conftest import Start
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.global_revocation.okta import ask_as, opaque
from tests.logout.conftest import end, nothing_waits
from tests.logout.relying_party import RelyingParty

pytestmark = pytest.mark.rfc("openid-backchannel#2.4", "openid-backchannel#2.5")

ALICE = "818727"
OFFLINE = "openid api1 offline_access"


@pytest.fixture
def config(config: dict[str, Any], party: RelyingParty) -> dict[str, Any]:
    client_in(config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
    return config


async def end_all(service: RunningService) -> None:
    assert (await ask_as(service, "siem", opaque(ALICE))).status == 204
    await nothing_waits(service)


async def sids_after_logouts(app: ClientApp, count: int) -> list[str]:
    """Sign in for offline access and out again, so often; the sessions."""
    sids = []
    for _ in range(count):
        tokens = await app.tokens(scope=OFFLINE)
        await app.refresh(tokens["refresh_token"])
        await end(app, tokens["id_token"])
        sids.append(str(claims_in(tokens["id_token"])["sid"]))
    await nothing_waits(app.service)
    return sids


async def test_a_client_of_offline_grants_is_told_of_each_session_that_was_over(
    app: ClientApp, party: RelyingParty
) -> None:
    sids = await sids_after_logouts(app, 2)
    told = len(party.tokens)
    await end_all(app.service)
    claims = [claims_in(token) for token in party.tokens[told:]]
    assert sorted(one["sid"] for one in claims) == sorted(sids)
    assert {one["sub"] for one in claims} == {ALICE}


async def test_a_client_is_told_once_of_a_session_that_lives(
    app: ClientApp, party: RelyingParty
) -> None:
    tokens = await app.tokens(scope=OFFLINE)
    await app.redeem(await app.code(scope="openid api1"))
    await end_all(app.service)
    assert [claims_in(one)["sid"] for one in party.tokens] == [claims_in(tokens["id_token"])["sid"]]


async def test_a_client_that_was_told_before_its_grants_end_is_not_told_again(
    app: ClientApp, party: RelyingParty, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none_after_the_delivery(*_: object) -> int:
        await nothing_waits(app.service)
        return 0

    monkeypatch.setattr(UserEnding, "_refuse_requests", none_after_the_delivery)
    await app.tokens(scope=OFFLINE)
    await end_all(app.service)
    assert len(party.tokens) == 1


async def test_a_repeated_end_sends_no_token_again(app: ClientApp, party: RelyingParty) -> None:
    await sids_after_logouts(app, 1)
    await end_all(app.service)
    told = len(party.tokens)
    await end_all(app.service)
    assert len(party.tokens) == told == 2


async def test_clients_of_another_user_are_not_told(app: ClientApp, party: RelyingParty) -> None:
    tokens = await app.tokens("bob", scope=OFFLINE)
    await end(app, tokens["id_token"])
    await nothing_waits(app.service)
    await end_all(app.service)
    assert [claims_in(one)["sub"] for one in party.tokens] == ["88421113"]


@pytest.mark.parametrize("required", [True, False])
async def test_a_grant_without_a_session_ends_all_sessions_at_a_client_that_needs_no_sid(
    start: Start, config: dict[str, Any], party: RelyingParty, required: bool
) -> None:
    client_in(config, "opaque").update(
        backchannel_logout_uri=party.backchannel_logout_uri,
        backchannel_logout_session_required=required,
    )
    service = await start(config)
    for _ in range(2):
        assert (await service.user_token("opaque", "api1")).status == 200
    await end_all(service)
    claims = [claims_in(token) for token in party.tokens]
    assert [(one["aud"], one["sub"], "sid" in one) for one in claims] == (
        [] if required else [("opaque", ALICE, False)]
    )


async def test_an_ordinary_logout_tells_of_its_own_session_alone(
    app: ClientApp, party: RelyingParty
) -> None:
    (before,) = await sids_after_logouts(app, 1)
    tokens = await app.tokens()
    await end(app, tokens["id_token"])
    await nothing_waits(app.service)
    sids = [claims_in(one)["sid"] for one in party.tokens]
    assert sids == [before, claims_in(tokens["id_token"])["sid"]]
