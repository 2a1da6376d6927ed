"""The logout token is made for its client: its name for the person, its algorithm (Back-Channel Logout §2.4)."""

from __future__ import annotations

import asyncio
import hmac
from base64 import urlsafe_b64decode
from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, claims_in, header_of
from tests.logout.conftest import end
from tests.logout.relying_party import RelyingParty

SECRET = "a-secret-that-is-long-enough-to-sign-by"

pytestmark = pytest.mark.rfc("openid-backchannel#2.4")


@pytest.fixture
def config(config: dict[str, Any], party: RelyingParty) -> dict[str, Any]:
    config["pairwise_salt"] = "salt-of-the-tests"
    client_in(config, "implicit").update(
        backchannel_logout_uri=party.backchannel_logout_uri,
        subject_type="pairwise",
        id_token_signed_response_alg="HS256",
        client_secrets=[{"value": SECRET}],
    )
    return config


@pytest.fixture
async def id_token(app_of: Callable[[str], ClientApp]) -> str:
    """The ID token that `implicit` has of alice."""
    page = await app_of("implicit").login(response_type="id_token", scope="openid profile")
    return page.parameters["id_token"]


async def test_the_subject_is_the_one_that_the_client_knows(
    app: ClientApp, id_token: str, party: RelyingParty
) -> None:
    await end(app, id_token)
    (claims,) = await party.claims()
    known_as = claims_in(id_token)["sub"]
    assert (claims["sub"], known_as != "818727") == (known_as, True)


async def test_a_logout_token_is_signed_by_the_clients_own_algorithm(
    app: ClientApp, id_token: str, party: RelyingParty
) -> None:
    await end(app, id_token)
    await party.claims()
    signed, _, signature = party.tokens[0].rpartition(".")
    assert header_of(party.tokens[0])["alg"] == "HS256"
    expected = hmac.digest(SECRET.encode(), signed.encode(), "sha256")
    assert urlsafe_b64decode(signature + "=" * (-len(signature) % 4)) == expected


@pytest.mark.rfc("openid-backchannel#2.3")
async def test_a_client_that_comes_while_the_session_ends_is_refused_or_notified(
    app_of: Callable[[str], ClientApp], service: RunningService, party: RelyingParty, hint: str
) -> None:
    app = app_of("implicit")
    headers = {"Cookie": app.browser.cookie_header}
    url = app.url(response_type="id_token", scope="openid profile", prompt="none")
    paths = [url.removeprefix(service.issuer)] * 10
    paths.insert(5, f"/connect/endsession?id_token_hint={hint}")
    answers = await asyncio.gather(*[service.get(path, headers=headers) for path in paths])
    if any(is_granted(answer) for answer in answers):
        assert len(await party.claims()) == 1


def is_granted(answer: Answer) -> bool:
    """Whether the client got what it asked for."""
    return "id_token=" in answer.headers.get("Location", "")
