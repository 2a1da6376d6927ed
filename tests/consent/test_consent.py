"""A person allows a client what it asks for, all of it or less (OIDC Core §3.1.2.4, RFC 6749 §3.3, §10.2)."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from service.events.authorizations import ConsentDenied, ConsentGiven
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.4", "6749#3.3")

EVERYTHING = "openid profile email api1 offline_access"


@pytest.fixture
def config() -> dict[str, Any]:
    usual = fresh_configuration()
    usual["api_resources"].append({"name": "reader", "scopes": ["api1.read"]})
    client_in(usual, "implicit")["allowed_scopes"].append("api1.read")
    return usual | {
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


async def open_consent_page(client: ClientApp, **changes: str) -> Page:
    """The consent page, for alice."""
    page = await client.login(**({"scope": EVERYTHING} | changes))
    assert page.path == "/account/consent"
    return page


async def allow(client: ClientApp, page: Page, **fields: Any) -> Any:
    """Allow it; the tokens."""
    page = await client.browser.submit(page, action="allow", **fields)
    return await client.redeem(page.parameters["code"])


async def test_a_client_that_needs_no_consent_shows_no_page(app: ClientApp) -> None:
    assert "code" in (await app.login(scope=EVERYTHING)).parameters


async def test_the_consent_page_names_client_user_and_every_scope(client: ClientApp) -> None:
    page = await open_consent_page(client)
    assert "Careful application" in page.text
    assert "Alice Smith" in page.text
    assert "Read &lt;your&gt; mail" in page.text
    assert set(page.boxes) == set(EVERYTHING.split())


async def test_the_consent_page_shows_the_values_of_claims(client: ClientApp) -> None:
    page = await open_consent_page(client)
    assert "<b>alice@example.com</b>" in page.text
    assert "Given name: <b>Alice</b>" in page.text
    assert "818727" not in page.text


async def test_the_consent_page_shows_the_host_of_the_redirect_uri(client: ClientApp) -> None:
    page = await open_consent_page(client)
    assert page.text_of("answer-host") == "You’ll be sent to consenting.example."


async def test_another_user_signs_in_from_the_consent_page(client: ClientApp) -> None:
    page = await open_consent_page(client)
    page = await client.browser.get(unescape(page.element("not-you")["href"] or ""))
    page = await client.browser.log_in(page, "bob")
    assert (page.has("consent-allow"), "Bob Jones" in page.text) == (True, True)
    tokens = await allow(client, page)
    assert claims_in(tokens["id_token"])["sub"] == "88421113"


async def test_boxes_are_ticked_and_required_ones_cannot_be_unticked(client: ClientApp) -> None:
    boxes = (await open_consent_page(client)).boxes
    assert all("checked" in box for box in boxes.values())
    assert {name for name, box in boxes.items() if "disabled" in box} == {"openid", "email"}


async def test_an_unchanged_consent_grants_the_whole_scope(client: ClientApp) -> None:
    tokens = await allow(client, await open_consent_page(client))
    assert tokens["scope"] == "api1 email offline_access openid profile"
    assert "refresh_token" in tokens.json


async def test_an_unticked_scope_is_not_granted(client: ClientApp) -> None:
    tokens = await allow(client, await open_consent_page(client), scope=["profile"])
    assert tokens["scope"] == "email openid profile"
    assert "refresh_token" not in tokens.json
    assert claims_in(tokens["access_token"])["scope"] == "email openid profile"


@pytest.mark.rfc("8707#2.1")
async def test_an_api_without_an_allowed_scope_is_not_in_the_audience(client: ClientApp) -> None:
    page = await open_consent_page(client, scope="openid profile api1", resource="api1")
    tokens = await allow(client, page, scope=["profile"])
    assert claims_in(tokens["access_token"])["aud"] == client.service.issuer


@pytest.mark.rfc("8707#2.1")
async def test_no_other_api_replaces_one_without_an_allowed_scope(app: ClientApp) -> None:
    page = await app.login(scope="openid api1 api2", resource="api1", prompt="consent")
    tokens = await allow(app, page, scope=["api2"])
    assert claims_in(tokens["access_token"])["aud"] == app.service.issuer
    assert tokens["scope"] == "openid"


async def test_userinfo_is_cut_to_what_was_allowed(
    client: ClientApp, service: RunningService
) -> None:
    tokens = await allow(client, await open_consent_page(client), scope=["api1"])
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    userinfo = await service.get("/connect/userinfo", headers=headers)
    assert userinfo.json == {"sub": "818727", "email": "alice@example.com"}


async def test_a_box_that_was_not_there_grants_nothing(client: ClientApp) -> None:
    page = await open_consent_page(client, scope="openid")
    tokens = await allow(client, page, scope=["api1", "offline_access", "api2"])
    assert tokens["scope"] == "openid"


async def test_a_narrowed_scope_is_in_the_token_response(
    app_of: Callable[[str], ClientApp],
) -> None:
    implicit = app_of("implicit")
    page = await implicit.login(
        response_type="code id_token token", scope=EVERYTHING, prompt="consent"
    )
    page = await implicit.browser.submit(page, action="allow", scope=["api1"])
    assert page.parameters["scope"] == "api1 email openid"


@pytest.mark.rfc("6749#4.1.2.1")
@pytest.mark.parametrize("action", ["deny", "", "something else", None])
async def test_a_denied_consent_is_access_denied_at_the_client(
    client: ClientApp, action: str | None
) -> None:
    page = await client.browser.submit(await open_consent_page(client), action=action)
    assert page.url.startswith(client.redirect_uri)
    assert page.error == "access_denied"
    assert page.parameters["state"] == "the-state"


@pytest.mark.parametrize("scope", [None, ["offline_access"]], ids=["nothing", "offline_access"])
async def test_a_consent_to_nothing_that_gives_access_is_a_denial(
    client: ClientApp, scope: list[str] | None
) -> None:
    page = await client.login(scope="api1 offline_access", nonce=None)
    page = await client.browser.submit(page, action="allow", scope=scope)
    assert page.error == "access_denied"


@pytest.mark.rfc("8707#2.2")
async def test_the_consent_page_offers_only_what_the_named_api_understands(app: ClientApp) -> None:
    scope = "openid api1 api2 offline_access"
    page = await app.login(scope=scope, resource="api2", prompt="consent")
    assert set(page.boxes) == {"openid", "api2", "offline_access"}
    tokens = await allow(app, page)
    assert tokens["scope"] == "api2 offline_access openid"


@pytest.mark.rfc("8707#2.2")
@pytest.mark.parametrize(
    ("client_id", "changes"), [("web", {}), ("implicit", {"response_type": "token"})]
)
async def test_a_consent_to_what_the_named_api_does_not_understand_is_a_denial(
    app_of: Callable[[str], ClientApp], client_id: str, changes: dict[str, str]
) -> None:
    client = app_of(client_id)
    scope = "api1 api1.read"
    page = await client.login(scope=scope, resource="reader", prompt="consent", **changes)
    page = await client.browser.submit(page, action="allow", scope=["api1"])
    assert page.error == "access_denied"


async def test_consent_and_denial_are_events(client: ClientApp, events: list[object]) -> None:
    await client.browser.submit(await open_consent_page(client, scope="openid"), action="deny")
    await allow(client, await open_consent_page(client, scope="openid"), remember=None)
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
