"""A command ends what the admin API ends by the same name: with the same events for webhooks, and the same logout tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from service.outbox.looking import Outboxes
from service.wiring.outboxes import open_outboxes
from tests.admin.conftest import ALICE, operator, token_of
from tests.cli.conftest import Command
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, claims_in
from tests.logout.conftest import nothing_waits as nobody_is_to_be_told
from tests.logout.relying_party import RelyingParty, relying_party
from tests.webhooks.conftest import nothing_waits
from tests.webhooks.receiver import SECRET, Receiver, receiving

KINDS = ["session_*", "authorization_ended", "consent_withdrawn", "logged_out"]
WAYS = {
    "sessions of a user": (("sessions", "end", "--subject", ALICE), f"users/{ALICE}/sessions"),
    "a session": (("sessions", "end", "--session", "SID"), "sessions/SID"),
    "grants of a user": (("grants", "revoke", "--subject", ALICE), f"users/{ALICE}/grants"),
    "grants of a client": (
        ("grants", "revoke", "--client", "consenting"),
        "clients/consenting/grants",
    ),
}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
async def party() -> AsyncIterator[RelyingParty]:
    """The site of `consenting`."""
    async with relying_party() as party:
        yield party


@pytest.fixture
def config(config: dict[str, Any], receiver: Receiver, party: RelyingParty) -> dict[str, Any]:
    client_in(config, "consenting")["backchannel_logout_uri"] = party.backchannel_logout_uri
    config["admin"] = {"url": "http://127.0.0.1:0"}
    config["clients"].append(operator("operations", "admin.read", "admin.write"))
    config["events"] = {"webhooks": [{"url": receiver.url, "secrets": [SECRET], "kinds": KINDS}]}
    config["outgoing"] = {"allowed_networks": ["127.0.0.0/8"]}
    return config


@pytest.fixture
def outboxes(service: RunningService) -> Outboxes:
    return open_outboxes(service.features.shared)


@pytest.fixture
def app(service: RunningService, browser: Browser) -> ClientApp:
    return ClientApp(service, browser, "consenting")


async def consented(app: ClientApp) -> Answer:
    """The tokens of a sign-in, after a consent that is remembered where it is asked for."""
    page = await app.login(scope="openid api1")
    if "code" not in page.parameters:
        page = await app.browser.submit(page, action="allow", remember="on")
    return await app.redeem(page.parameters["code"])


@pytest.mark.parametrize("way", WAYS)
async def test_a_command_and_the_admin_api_end_the_same_with_the_same_events(
    *,
    way: str,
    command: Command,
    service: RunningService,
    app: ClientApp,
    receiver: Receiver,
    party: RelyingParty,
    outboxes: Outboxes,
) -> None:
    typed, path = WAYS[way]
    token = await token_of(service, "operations")
    seen: list[tuple[Counter[str], int, bool]] = []
    for by_command in (True, False):
        tokens = await consented(app)
        sid = str(claims_in(tokens["id_token"])["sid"])
        await nothing_waits(outboxes)
        told, came = len(party.tokens), len(receiver.received)
        if by_command:
            ran = await command(*[sid if each == "SID" else each for each in typed])
            assert ran.exit_code == 0, ran.output
        else:
            answer = await service.admin("DELETE", f"/admin/{path.replace('SID', sid)}", token)
            assert answer.status == 204
        await nothing_waits(outboxes)
        await nobody_is_to_be_told(service)
        kinds = Counter(str(one.event["type"]) for one in receiver.received[came:])
        active = await service.is_active(tokens["access_token"])
        seen.append((kinds, len(party.tokens) - told, active))
    assert seen[0] == seen[1]
    assert seen[0][0]
    assert seen[0][2] is False
