"""Claims asked for one by one are shown, allowed and remembered like scope values (OIDC Core §3.1.2.4, §5.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.events.authorizations import ConsentGiven
from tests.claims.conftest import claims_request, told_of
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.service import claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.4", "openid-core#5.5")

WISH = claims_request(id_token={"email": None, "name#de": None}, userinfo={"birthdate": None})


@pytest.fixture
def client(app_of: Callable[[str], ClientApp]) -> ClientApp:
    return app_of("consenting")


async def told(client: ClientApp, page: Page) -> dict[str, Any]:
    """Redeem the code of this page and return the claims of the ID token."""
    return told_of(claims_in((await client.redeem(page.parameters["code"]))["id_token"]))


async def allow(client: ClientApp, **changes: Any) -> Page:
    """Log in where needed, and allow what is ticked."""
    fields = {name: changes.pop(name) for name in ("claim", "remember") if name in changes}
    page = await client.login(**{"scope": "openid", "claims": WISH} | changes)
    return await client.browser.submit(page, action="allow", **fields)


async def test_each_is_shown_by_a_name_that_people_know(client: ClientApp) -> None:
    page = await client.login(scope="openid", claims=WISH, ui_locales="de")
    assert {name for name, _ in page.forms[0].fields if name == "claim"} == {"claim"}
    for name in ("E-Mail-Adresse", "Vollständiger Name", "Geburtsdatum"):
        assert name in page.text


async def test_claims_of_a_scope_are_not_shown_twice(client: ClientApp) -> None:
    page = await client.login(scope="openid profile", claims=WISH)
    shown = [value for name, value in page.forms[0].fields if name == "claim"]
    assert shown == ["email"]


async def test_claims_that_the_client_may_not_ask_for_are_not_shown(client: ClientApp) -> None:
    page = await client.login(scope="openid", claims=claims_request(id_token={"shoe_size": None}))
    assert all(name != "claim" for name, _ in page.forms[0].fields)


async def test_ticked_claim_is_in_the_id_token(client: ClientApp) -> None:
    assert await told(client, await allow(client)) == {
        "email": "alice@example.com",
        "name#de": "Alice Schmidt",
    }


async def test_unticked_claim_is_not_in_the_id_token(client: ClientApp) -> None:
    assert await told(client, await allow(client, claim=["name"])) == {"name#de": "Alice Schmidt"}
    assert await told(client, await allow(client, claim=None, prompt="consent")) == {}


async def test_claim_that_was_not_asked_for_cannot_be_ticked(client: ClientApp) -> None:
    claims = claims_request(id_token={"email": None})
    page = await allow(client, claims=claims, claim=["email", "phone_number", "sub"])
    assert await told(client, page) == {"email": "alice@example.com"}


async def test_unticking_a_scope_unticks_what_it_stands_for(client: ClientApp) -> None:
    claims = claims_request(id_token={"email": None})
    page = await client.login(scope="openid email", claims=claims)
    assert await told(client, await client.browser.submit(page, action="allow", scope=[])) == {}


async def test_a_consent_to_them_is_remembered(client: ClientApp) -> None:
    await allow(client)
    page = await client.authorize(scope="openid", claims=WISH, prompt="none")
    assert set(await told(client, page)) == {"email", "name#de"}


async def test_a_consent_to_less_does_not_cover_more_claims(client: ClientApp) -> None:
    await allow(client, claims=claims_request(id_token={"email": None}))
    assert (await client.authorize(scope="openid", claims=WISH)).has("consent-allow")
    page = await client.authorize(scope="openid", claims=WISH, prompt="none")
    assert page.error == "consent_required"


async def test_a_consent_to_the_scope_covers_its_claims(client: ClientApp) -> None:
    await allow(client, scope="openid email profile", claims=None)
    assert "code" in (await client.authorize(scope="openid", claims=WISH)).parameters


async def test_unticked_claim_is_asked_again(client: ClientApp) -> None:
    await allow(client, claim=["email"])
    assert (await client.authorize(scope="openid", claims=WISH)).has("consent-allow")
    email = claims_request(id_token={"email": None})
    assert "code" in (await client.authorize(scope="openid", claims=email)).parameters


async def test_consented_claims_are_an_event(client: ClientApp, events: list[object]) -> None:
    await allow(client, claim=["email"])
    (given,) = [event for event in events if isinstance(event, ConsentGiven)]
    assert given.scope == {"openid"}
    assert given.claims == {"email"}


async def test_consented_claims_are_shown_on_the_account_page(client: ClientApp) -> None:
    await allow(
        client, claims=claims_request(id_token={"birthdate": None, "email": None}), claim=["email"]
    )
    page = await client.browser.get("/account")
    assert "Email address" in page.text
    assert "Date of birth" not in page.text
