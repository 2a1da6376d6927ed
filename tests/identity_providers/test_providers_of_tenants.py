"""A tenant's identity providers are its own: on the page, by a hand-made link, and in what their users may claim."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.providers import ProviderSignInFailed
from service.model.handle import digest
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import claims_in
from tests.identity_providers.conftest import Upstream
from tests.identity_providers.journey import Journey, arrived, provider_entry

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1")

ACME, BETA = "tenant:acme", "tenant:beta"


@pytest.fixture
def mapped() -> dict[str, str]:
    """The claims that the provider's are mapped to."""
    return {}


@pytest.fixture
def owners() -> list[str]:
    """The tenants that list `upstream`."""
    return ["acme"]


@pytest.fixture
def config(upstream: Upstream, mapped: dict[str, str], owners: list[str]) -> dict[str, Any]:
    """`upstream` is a provider of its owners, `elsewhere` of nobody; `web` learns the tenant, `spa` is for Beta."""
    configuration = fresh_configuration()
    configuration["identity_providers"] = [
        provider_entry(upstream.issuer, claims=mapped),
        provider_entry("https://elsewhere.example", name="elsewhere"),
    ]
    configuration["tenants"] = [
        {"name": name, "providers": ["upstream"] if name in owners else []}
        for name in ("acme", "beta", "gamma")
    ]
    configuration["tenants"][0] |= {"display_name": "Acme & Sons", "domains": ["acme.example"]}
    configuration["api_resources"][0]["user_claims"] = ["tenant"]
    client_in(configuration, "spa")["tenants"] = ["beta"]
    return configuration


async def offered(app: ClientApp, acr_values: str | None) -> set[str]:
    return {*(await app.authorize(acr_values=acr_values)).provider_links}


async def test_a_tenants_page_offers_its_own_providers_only(app: ClientApp) -> None:
    assert await offered(app, ACME) == {"upstream"}
    assert await offered(app, BETA) == set()
    assert await offered(app, None) == {"upstream", "elsewhere"}


async def test_a_hand_made_link_to_another_tenants_provider_leads_nowhere(app: ClientApp) -> None:
    page = await app.authorize(acr_values=BETA)
    parked = page.url.partition("request=")[2]
    for name in ("upstream", "elsewhere"):
        refused = await app.browser.get(f"/account/provider?idp={name}&request={parked}")
        assert (refused.status, refused.error) == (400, "invalid_request")


async def test_acr_values_do_not_lead_to_another_tenants_provider(
    app: ClientApp, upstream: Upstream
) -> None:
    page = await app.authorize(acr_values=f"{BETA} idp:upstream")
    assert page.path == "/account/login"
    page = await app.authorize(acr_values=f"{ACME} idp:upstream")
    assert page.url.startswith(upstream.issuer)


async def test_users_of_a_provider_are_of_its_tenant(journey: Journey) -> None:
    tokens = await journey.tokens(acr_values=ACME)
    assert claims_in(tokens["access_token"])["tenant"] == "acme"
    silent = {"prompt": "none", "acr_values": BETA}
    assert (await journey.app.authorize(**silent)).error == "login_required"


async def test_login_response_of_another_tenants_provider_is_refused(
    journey: Journey, config: dict[str, Any], events: list[object]
) -> None:
    """The user was sent there while the provider was the tenant's."""
    sent = await journey.away(acr_values=ACME)
    back = await journey.signed_in_there(sent)
    config["tenants"][0]["providers"] = []
    journey.app.service.reload(config)
    page = await journey.here.get(back)
    assert page.has("login-error")
    assert (await journey.app.authorize(prompt="none")).error == "login_required"
    told = [each for each in events if type(each).__name__.startswith("ProviderSignIn")]
    cause = "its user is not of the tenant that the request is for"
    failed = ProviderSignInFailed(
        provider="upstream", subject=digest("upstream 818727"), cause=cause
    )
    assert told == [failed]


async def test_a_provider_that_a_tenant_gives_up_ends_what_its_users_had_there(
    journey: Journey, config: dict[str, Any]
) -> None:
    service = journey.app.service
    client_in(config, "web")["tenants"] = ["acme"]
    service.reload(config)
    tokens = await journey.tokens(scope="openid api1 offline_access")
    assert await service.is_active(tokens["access_token"])
    config["tenants"][0]["providers"] = []
    service.reload(config)
    assert not await service.is_active(tokens["access_token"])
    refused = await journey.app.refresh(tokens["refresh_token"])
    assert refused.refusal == (400, "invalid_grant")
    assert (await journey.app.authorize(prompt="none")).error == "login_required"


@pytest.mark.parametrize("owners", [["acme", "beta"]])
async def test_the_page_decides_where_a_provider_is_of_two_tenants(journey: Journey) -> None:
    tokens = await journey.tokens(acr_values=BETA)
    assert claims_in(tokens["access_token"])["tenant"] == "beta"
    silent = {"prompt": "none", "acr_values": ACME}
    assert (await journey.app.authorize(**silent)).error == "login_required"


@pytest.mark.parametrize(
    ("owners", "mapped"), [(["acme", "beta"], {"given_name": "tenant"})], ids=["two tenants"]
)
@pytest.mark.parametrize(
    ("claimed", "asked", "is_let_in"),
    [
        ("acme", ACME, True),
        ("acme", BETA, False),
        ("gamma", ACME, False),
        ("gamma", "tenant:gamma", False),
        ("gamma", None, True),
    ],
)
async def test_a_claim_decides_among_the_tenants_that_list_the_provider(
    journey: Journey, upstream: Upstream, claimed: str, asked: str | None, is_let_in: bool
) -> None:
    upstream.configuration["users"]["list"][0]["claims"]["given_name"] = claimed
    upstream.service.reload(upstream.configuration)
    page = await journey.away(acr_values=asked)
    if page.path == "/account/login":  # gamma has no provider
        assert not is_let_in
        return
    page = await journey.here.get(await journey.signed_in_there(page))
    assert arrived(page) is is_let_in
    if is_let_in:
        tokens = await journey.app.redeem(page.parameters["code"])
        told = claims_in(tokens["access_token"]).get("tenant")
        assert told == (claimed if claimed != "gamma" else None)


async def test_the_addresss_domain_chooses_the_page_where_the_request_names_no_tenant(
    app: ClientApp,
) -> None:
    page = await app.authorize()
    assert not page.has("password")
    page = await app.browser.submit(page, username="alice@Acme.example", action="login")
    assert "Acme &amp; Sons" in page.text
    assert {*page.provider_links} == {"upstream"}
    assert page.has("password")
    page = await app.authorize(login_hint="somebody@acme.example")
    assert "Acme &amp; Sons" in page.text


async def test_the_addresss_domain_does_not_replace_the_requests_tenant(app: ClientApp) -> None:
    page = await app.authorize(acr_values=BETA, login_hint="alice@acme.example")
    assert "Acme" not in page.text
    assert page.has("password")


async def test_the_domain_of_a_tenant_that_is_not_the_clients_means_nothing(
    app: ClientApp,
) -> None:
    page = await ClientApp(app.service, app.browser, "spa").authorize(
        login_hint="alice@acme.example"
    )
    assert "Acme" not in page.text
