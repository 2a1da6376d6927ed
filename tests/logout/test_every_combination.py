"""Hint, client, redirect URI and state in every combination (RP-Initiated Logout §2, §3, §4)."""

from __future__ import annotations

from itertools import product

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService
from tests.logout.conftest import BYE, is_signed_in

PATH = "/connect/endsession"
HINTS = ("no hint", "own hint", "garbage")
CLIENTS = ("no client", "web", "spa", "unknown")
URIS = ("no uri", BYE, "https://evil.example/")
STATES = ("no state", "a state")

pytestmark = [
    pytest.mark.usefixtures("one_store"),  # the other tests of logouts run on both
    pytest.mark.rfc("openid-rpinitiated#2", "openid-rpinitiated#3", "openid-rpinitiated#4"),
    pytest.mark.parametrize(
        "combination",
        list(product(HINTS, CLIENTS, URIS, STATES)),
        ids=" ".join,
    ),
]

Combination = tuple[str, str, str, str]


def parameters(combination: Combination, tokens: Answer) -> dict[str, str]:
    """The parameters to send; "no" before a name leaves it out."""
    hint, client_id, uri, state = combination
    sent = {
        "id_token_hint": tokens["id_token"] if hint == "own hint" else hint,
        "client_id": client_id,
        "post_logout_redirect_uri": uri,
        "state": state,
    }
    return {name: value for name, value in sent.items() if not value.startswith("no ")}


def is_proven(combination: Combination) -> bool:
    """Whether the hint says that the session's own client asks."""
    hint, client_id, _, _ = combination
    return hint == "own hint" and client_id in {"no client", "web"}


def destination(combination: Combination) -> str | None:
    """Return the URI that the user goes to in the end; None without one."""
    hint, client_id, uri, state = combination
    named = hint == "no hint" and client_id == "web"
    if uri != BYE or not (named or is_proven(combination)):
        return None
    return BYE if state == "no state" else f"{BYE}?state=a+state"


async def test_the_session_ends_and_the_user_goes_to_an_allowed_uri(
    app: ClientApp, tokens: Answer, combination: Combination
) -> None:
    page = await app.browser.get(PATH, params=parameters(combination, tokens))
    refused = combination[2] != "no uri" and destination(combination) is None
    assert page.has("logout-confirm") == (refused or not is_proven(combination))
    if page.has("logout-confirm"):
        assert await is_signed_in(app)
        page = await app.browser.submit(page)
    assert (page.url if page.status == 303 else None) == destination(combination)
    assert page.has("logout-success") == (destination(combination) is None)
    assert not await is_signed_in(app)


async def test_a_logout_without_a_session_does_not_ask(
    app: ClientApp, tokens: Answer, service: RunningService, combination: Combination
) -> None:
    session = (await service.features.shared.sessions.find_all_of("818727"))[0]
    await service.features.shared.sessions.end(session)
    page = await app.browser.get(PATH, params=parameters(combination, tokens))
    assert (page.url if page.status == 303 else None) == destination(combination)
    assert page.has("logout-success") == (destination(combination) is None)
    assert not await is_signed_in(app)
