"""A person allows a client what it asks for, all of it or less (OIDC Core §3.1.2.4, RFC 6749 §3.3, §10.2)."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from service.model.events import ConsentDenied, ConsentGiven
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.4", "6749#3.3")

EVERYTHING = "openid profile email api1 offline_access"


@pytest.fixture
def config() -> dict[str, Any]:
    return fresh_configuration() | {
        "api_scopes": [
            {"name": "api1", "display_name": "Read <your> mail", "emphasize": True},
        ],
        "identity_resources": [
            {
                "name": "email",
                "display_name": "Mail address",
                "required": True,
                "user_claims": ["email"],
            }
        ],
    }


@pytest.fixture
def client(app_of: Callable[[str], ClientApp]) -> ClientApp:
    return app_of("consenting")


async def asked(client: ClientApp, **changes: str) -> Page:
    """The consent page, for alice."""
    page = await client.login(**({"scope": EVERYTHING} | changes))
    assert page.path == "/account/consent"
    return page


async def allow(client: ClientApp, page: Page, **fields: Any) -> Any:
    """Allow it; the tokens."""
    page = await client.browser.submit(page, action="allow", **fields)
    return await client.redeem(page.parameters["code"])


async def test_a_trusted_client_is_not_asked_about(app: ClientApp) -> None:
    assert "code" in (await app.login(scope=EVERYTHING)).parameters


async def test_the_page_names_client_person_and_every_scope(client: ClientApp) -> None:
    page = await asked(client)
    assert "Careful application" in page.text
    assert "Alice Smith" in page.text
    assert "Read &lt;your&gt; mail" in page.text
    assert set(page.boxes) == set(EVERYTHING.split())


async def test_the_page_shows_what_is_shared(client: ClientApp) -> None:
    page = await asked(client)
    assert "<b>alice@example.com</b>" in page.text
    assert "Given name: <b>Alice</b>" in page.text
    assert "818727" not in page.text


async def test_the_page_says_where_the_answer_goes(client: ClientApp) -> None:
    page = await asked(client)
    assert page.text_of("answer-host") == "The answer goes to consenting.example."


async def test_somebody_else_signs_in_from_the_consent_page(client: ClientApp) -> None:
    page = await asked(client)
    page = await client.browser.get(unescape(page.element("not-you")["href"] or ""))
    page = await client.browser.log_in(page, "bob")
    assert (page.has("consent-allow"), "Bob Jones" in page.text) == (True, True)
    tokens = await allow(client, page)
    assert claims_in(tokens["id_token"])["sub"] == "88421113"


async def test_boxes_are_ticked_and_required_ones_cannot_be_unticked(client: ClientApp) -> None:
    boxes = (await asked(client)).boxes
    assert all("checked" in box for box in boxes.values())
    assert {name for name, box in boxes.items() if "disabled" in box} == {"openid", "email"}


async def test_what_is_allowed_as_it_stands_is_granted(client: ClientApp) -> None:
    tokens = await allow(client, await asked(client))
    assert tokens["scope"] == "api1 email offline_access openid profile"
    assert "refresh_token" in tokens.json


async def test_what_is_unticked_is_not_granted(client: ClientApp) -> None:
    tokens = await allow(client, await asked(client), scope=["profile"])
    assert tokens["scope"] == "email openid profile"
    assert "refresh_token" not in tokens.json
    assert claims_in(tokens["access_token"])["scope"] == "email openid profile"


@pytest.mark.rfc("8707#2.1")
async def test_an_api_of_which_nothing_is_allowed_is_no_audience(client: ClientApp) -> None:
    page = await asked(client, scope="openid profile api1", resource="api1")
    tokens = await allow(client, page, scope=["profile"])
    assert claims_in(tokens["access_token"])["aud"] == client.service.issuer


@pytest.mark.rfc("8707#2.1")
async def test_no_other_api_takes_its_place(app: ClientApp) -> None:
    page = await app.login(scope="openid api1 api2", resource="api1", prompt="consent")
    tokens = await allow(app, page, scope=["api2"])
    assert claims_in(tokens["access_token"])["aud"] == app.service.issuer
    assert tokens["scope"] == "openid"


async def test_userinfo_is_cut_to_what_was_allowed(
    client: ClientApp, service: RunningService
) -> None:
    tokens = await allow(client, await asked(client), scope=["api1"])
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    userinfo = await service.get("/connect/userinfo", headers=headers)
    assert userinfo.json == {"sub": "818727", "email": "alice@example.com"}


async def test_a_box_that_was_not_there_grants_nothing(client: ClientApp) -> None:
    page = await asked(client, scope="openid")
    tokens = await allow(client, page, scope=["api1", "offline_access", "api2"])
    assert tokens["scope"] == "openid"


async def test_a_narrowed_scope_stands_in_the_answer(app_of: Callable[[str], ClientApp]) -> None:
    implicit = app_of("implicit")
    page = await implicit.login(
        response_type="code id_token token", scope=EVERYTHING, prompt="consent"
    )
    page = await implicit.browser.submit(page, action="allow", scope=["api1"])
    assert page.parameters["scope"] == "api1 email openid"


@pytest.mark.rfc("6749#4.1.2.1")
@pytest.mark.parametrize("action", ["deny", "", "something else", None])
async def test_denying_tells_the_client(client: ClientApp, action: str | None) -> None:
    page = await client.browser.submit(await asked(client), action=action)
    assert page.url.startswith(client.redirect_uri)
    assert page.error == "access_denied"
    assert page.parameters["state"] == "the-state"


async def test_allowing_nothing_at_all_is_denying(client: ClientApp) -> None:
    page = await client.login(scope="api1", nonce=None)
    page = await client.browser.submit(page, action="allow", scope=None)
    assert page.error == "access_denied"


async def test_consent_and_denial_are_events(client: ClientApp, events: list[object]) -> None:
    await client.browser.submit(await asked(client, scope="openid"), action="deny")
    await allow(client, await asked(client, scope="openid"), remember=None)
    told = [event for event in events if isinstance(event, ConsentGiven | ConsentDenied)]
    assert told == [
        ConsentDenied(client_id="consenting", subject="818727"),
        ConsentGiven(
            client_id="consenting",
            subject="818727",
            scope=frozenset({"openid"}),
            remembered=False,
        ),
    ]
