"""A failed delivery is repeated, by whichever process runs (Back-Channel Logout §2.8)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import ClientSession
from msgspec.structs import force_setattr

from service.events.users import (
    BackChannelLogoutDelivered,
    BackChannelLogoutFailed,
    BackChannelLogoutPostponed,
)
from service.identity.sessions import queue_logouts
from service.outbox import delivering
from service.wiring.features import Features
from tests.conftest import ENCRYPTION_KEY, Clock, Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.contents import CONTENTS
from tests.driving.process import DEMONSTRATION, serving
from tests.driving.registry import client_in
from tests.driving.rounds import NextRounds
from tests.driving.service import RunningService, claims_in
from tests.logout.conftest import BYE, end, nothing_waits
from tests.logout.relying_party import RelyingParty

pytestmark = pytest.mark.rfc("openid-backchannel#2.8")


@pytest.fixture
def config(config: dict[str, Any], party: RelyingParty) -> dict[str, Any]:
    client_in(config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
    return config


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries after a second each."""
    monkeypatch.setattr("service.outbox.queue.PAUSES", (1, 1))


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("status", [400, 500, 501, 504, 302, 404])
async def test_an_unsuccessful_attempt_is_repeated_with_a_new_token(
    app: ClientApp, hint: str, party: RelyingParty, service: RunningService, status: int
) -> None:
    party.answers = [status]
    await end(app, hint)
    first, second = await party.claims(2)
    assert first["jti"] != second["jti"]
    assert first["iat"] < second["iat"]
    await nothing_waits(service)
    assert len(party.tokens) == 2


async def test_a_204_answer_is_a_success(
    app: ClientApp, hint: str, party: RelyingParty, service: RunningService
) -> None:
    party.status = 204
    await end(app, hint)
    await nothing_waits(service)
    assert len(party.tokens) == 1


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
async def test_answer_to_a_logout_token_is_a_success_whatever_its_content(
    app: ClientApp,
    hint: str,
    party: RelyingParty,
    service: RunningService,
    content: tuple[bytes, dict[str, str]],
) -> None:
    party.content = content
    await end(app, hint)
    await party.claims()
    await nothing_waits(service)
    assert any(isinstance(event, BackChannelLogoutDelivered) for event in service.events)


async def test_attempts_become_rarer_and_then_stop(
    next_rounds: NextRounds,
    app: ClientApp,
    hint: str,
    party: RelyingParty,
    *,
    events: list[object],
    clock: Clock,
) -> None:
    party.status = 500
    await end(app, hint)
    for attempt, pause in enumerate((5, 15, 45, 120, 240), start=1):
        postponed = {"attempts": attempt, "cause": "status 500"}
        assert await told(events, BackChannelLogoutPostponed, hint, **postponed)
        clock.forward(seconds=pause * 5 // 4 + 1)
    assert await told(events, BackChannelLogoutFailed, hint, attempts=6, cause="status 500")
    clock.forward(hours=1)
    await next_rounds()
    assert len(party.tokens) == 6


async def told(events: list[object], kind: Any, hint: str, **members: Any) -> bool:
    """Whether the audit log gets this soon."""
    event = kind(client_id="web", session_id=claims_in(hint)["sid"], **members)
    for _ in range(5000):
        if event in events:
            return True
        await asyncio.sleep(0.02)
    return False


async def test_a_retry_does_not_come_before_its_time(
    next_rounds: NextRounds,
    app: ClientApp,
    hint: str,
    party: RelyingParty,
    *,
    events: list[object],
    clock: Clock,
) -> None:
    party.answers = [500]
    await end(app, hint)
    assert await told(events, BackChannelLogoutPostponed, hint, attempts=1, cause="status 500")
    clock.forward(seconds=2)
    await next_rounds()
    assert len(party.tokens) == 1
    clock.forward(seconds=5)
    assert len(await party.claims(2)) == 2
    assert await told(events, BackChannelLogoutDelivered, hint, attempts=2)


async def test_unavailable_client_gets_its_logout_token_later(
    app: ClientApp, hint: str, party: RelyingParty, events: list[object], clock: Clock
) -> None:
    client = await app.service.features.clients.find("web")
    assert client is not None
    uri = party.backchannel_logout_uri
    force_setattr(client, "backchannel_logout_uri", "http://localhost:1/backchannel")
    await end(app, hint)
    cause = "no answer: ClientConnectorError"
    assert await told(events, BackChannelLogoutPostponed, hint, attempts=1, cause=cause)
    force_setattr(client, "backchannel_logout_uri", uri)
    clock.forward(seconds=7)
    assert len(await party.claims()) == 1


async def test_a_hanging_client_does_not_delay_a_logout(
    app: ClientApp, hint: str, party: RelyingParty, stranger: Browser, service: RunningService
) -> None:
    other = ClientApp(service, stranger)
    others_hint = (await other.tokens("bob"))["id_token"]
    party.hang()
    page = await app.browser.get(
        "/connect/endsession", params={"id_token_hint": hint, "post_logout_redirect_uri": BYE}
    )
    assert page.url == BYE  # the client still hangs
    await party.claims()
    await end(other, others_hint)
    assert len(await party.claims(2)) == 2


async def test_a_limited_number_of_attempts_runs_at_once(
    next_rounds: NextRounds,
    service: RunningService,
    party: RelyingParty,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivering, "AT_ONCE", 3)
    party.hang()
    await queue_deliveries(service, 10)
    await party.claims(3)
    await next_rounds()
    assert (len(party.tokens), party.most_at_once) == (3, 3)
    party.answering.set()
    assert len(await party.claims(10)) == 10


async def queue_deliveries(service: RunningService, count: int) -> None:
    """As many people have signed out of `web`."""
    features = service.features
    browsers = [Browser(service.issuer) for _ in range(count)]
    for browser in browsers:
        hint = claims_in((await ClientApp(service, browser).tokens())["id_token"])
        session = await features.shared.sessions.find_by_id(hint["sid"])
        assert session is not None
        logout = (session.subject, session.id, "web")
        await features.shared.kv.write(*queue_logouts(features.shared.stores, [logout]))
        await browser.close()


async def test_replicas_share_deliveries_and_make_each_once(
    next_rounds: NextRounds,
    service: RunningService,
    start: Start,
    config: dict[str, Any],
    party: RelyingParty,
) -> None:
    replicas = (
        [service]
        if config["store"]["url"] == "memory://"
        else [service, await start(config), await start(config)]
    )
    await queue_deliveries(service, 8)
    await asyncio.gather(*[nothing_waits(one) for one in replicas])
    await next_rounds()
    sids = [claims_in(token)["sid"] for token in party.tokens]
    assert len(sids) == len(set(sids)) == 8


async def test_deliveries_of_a_killed_process_are_taken_by_another(
    start: Start, config: dict[str, Any], party: RelyingParty, mortal_redis: Any, tmp_path: Path
) -> None:
    config["store"], config["outgoing"] = {"url": mortal_redis[0]}, {"timeout": "1s"}
    party.hang()
    with serving(as_text(config), tmp_path) as address:
        await sign_in_and_out(f"http://{address}")
        await party.claims()
    party.answering.set()
    await start(config)
    before, after = await party.claims(2)
    assert (before["sid"], before["jti"] != after["jti"]) == (after["sid"], True)


def as_text(config: dict[str, Any]) -> str:
    """A file for a process of its own."""
    signing = config["signing"] | {"encryption_key": ENCRYPTION_KEY}
    return json.dumps(config | {"issuer": f"http://{DEMONSTRATION}", "signing": signing})


async def sign_in_and_out(issuer: str) -> None:
    """Somebody comes and goes."""
    browser = Browser(issuer)
    async with ClientSession() as http:
        app = ClientApp(
            RunningService(issuer=issuer, http=http, features=cast("Features", None)), browser
        )
        await end(app, (await app.tokens())["id_token"])
    await browser.close()
