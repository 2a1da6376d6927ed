"""A provider's user signs in to an account of this service by a verified e-mail address, where the operator trusts the provider."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.providers import ProviderSignInFailed, ProviderSignInSucceeded
from service.model.handle import digest
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration, user_in
from tests.driving.service import claims_in
from tests.factors.phone import Phone
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import ComeBack, arrived, provider_entry, subject, userinfo

pytestmark = pytest.mark.rfc("openid-core#5.7")

ALICE = "818727"
VERIFIED = {"email": "Alice@Example.com", "email_verified": True}
LINKED = {"link_by": "verified_email", "trust_email": True}


@pytest.fixture
def config(fake: FakeProvider) -> dict[str, Any]:
    configuration = fresh_configuration()
    configuration["identity_providers"] = [provider_entry(fake.issuer, **LINKED)]
    return configuration


@pytest.mark.rfc("openid-core#5.1")
async def test_user_whose_address_is_verified_in_words_signs_in_to_the_account(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider
) -> None:
    """As Apple may say it, and Amazon Cognito does in userinfo."""
    fake.claims = VERIFIED | {"email_verified": "true"}
    assert await subject(app, come_back) == ALICE


@pytest.mark.parametrize("source", ["claims", "userinfo"])
async def test_user_with_the_same_verified_address_signs_in_to_the_account(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, events: list[object], source: str
) -> None:
    setattr(fake, source, VERIFIED | {"name": "Theirs"})
    page = await come_back(scope="openid profile api1")
    tokens = await app.redeem(page.parameters["code"])
    access = claims_in(tokens["access_token"])
    assert (access["sub"], access["idp"], access["amr"]) == (ALICE, "upstream", ["external"])
    assert (await userinfo(app.service, tokens))["name"] == "Alice Smith"
    succeeded = ProviderSignInSucceeded(provider="upstream", subject=ALICE, amr=("external",))
    assert succeeded in events


NOT_OURS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "an address that it has not verified": (VERIFIED | {"email_verified": False}, {}),
    "an address of which it says nothing": ({"email": "alice@example.com"}, {}),
    "another text for a truth": (VERIFIED | {"email_verified": "True"}, {}),
    "a number for a truth": (VERIFIED | {"email_verified": 1}, {}),
    "another address": (VERIFIED | {"email": "mallory@example.com"}, {}),
    "an address with a look-alike": (VERIFIED | {"email": "alice@example.\u212aom"}, {}),
    "several addresses": (VERIFIED | {"email": ["alice@example.com"]}, {}),
    "no address": ({"email_verified": True}, {}),
    "an address that is verified elsewhere": (
        {"email": "alice@example.com"},
        {"email": "mallory@example.com", "email_verified": True},
    ),
}


@pytest.mark.parametrize(("claims", "told"), NOT_OURS.values(), ids=NOT_OURS)
async def test_any_other_user_has_an_account_of_the_own(
    app: ClientApp,
    come_back: ComeBack,
    fake: FakeProvider,
    claims: dict[str, Any],
    told: dict[str, Any],
) -> None:
    fake.claims, fake.userinfo = claims, told
    assert await subject(app, come_back) not in {ALICE, ""}


async def test_letters_that_only_look_alike_are_other_letters(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, config: dict[str, Any]
) -> None:
    user_in(config, "alice")["claims"]["email"] = "kim@example.com"
    app.service.reload(config)
    fake.claims = VERIFIED | {"email": "\u212aim@example.com"}
    assert await subject(app, come_back) != ALICE


UNTRUSTED = {
    "not asked for": {"link_by": "subject"},
    "not trusted": {"trust_email": False},
    "of other domains": {"domains": ["partner.example"]},
}


@pytest.mark.parametrize("settings", UNTRUSTED.values(), ids=UNTRUSTED)
async def test_provider_that_is_not_trusted_with_the_address_links_no_account(
    app: ClientApp,
    come_back: ComeBack,
    fake: FakeProvider,
    config: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    config["identity_providers"] = [provider_entry(fake.issuer, **LINKED | settings)]
    app.service.reload(config)
    fake.claims = VERIFIED
    assert await subject(app, come_back) != ALICE


async def test_provider_cannot_vouch_for_the_domain_of_another_one(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, config: dict[str, Any]
) -> None:
    home = provider_entry("https://home.example", name="home", domains=["example.com"])
    config["identity_providers"].append(home)
    app.service.reload(config)
    fake.claims = VERIFIED
    assert await subject(app, come_back) != ALICE


async def test_provider_vouches_for_its_own_domain(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, config: dict[str, Any]
) -> None:
    config["identity_providers"][0]["domains"] = ["example.com"]
    app.service.reload(config)
    fake.claims = VERIFIED
    assert await subject(app, come_back) == ALICE


OURS: dict[str, dict[str, Any]] = {
    "has not verified it": {"email": "alice@example.com", "email_verified": False},
    "has another one": {"email": "alice@other.example", "email_verified": True},
}


@pytest.mark.parametrize("claims", OURS.values(), ids=OURS)
async def test_user_who_has_not_verified_the_address_here_keeps_the_account(
    app: ClientApp,
    come_back: ComeBack,
    fake: FakeProvider,
    config: dict[str, Any],
    claims: dict[str, Any],
) -> None:
    user_in(config, "alice")["claims"] = claims
    app.service.reload(config)
    fake.claims = VERIFIED
    assert await subject(app, come_back) != ALICE


async def test_address_of_two_users_links_neither(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, config: dict[str, Any]
) -> None:
    twin = user_in(config, "alice") | {"sub": "twin", "username": "twin"}
    config["users"]["list"].append(twin)
    app.service.reload(config)
    fake.claims = VERIFIED
    assert await subject(app, come_back) not in {ALICE, "twin"}


async def test_disabled_user_gets_no_account_of_another_name(
    app: ClientApp,
    come_back: ComeBack,
    fake: FakeProvider,
    config: dict[str, Any],
    events: list[object],
) -> None:
    user_in(config, "alice")["enabled"] = False
    app.service.reload(config)
    fake.claims = VERIFIED
    assert (await come_back()).has("login-error")
    cause, theirs = (
        "the user with its e-mail address is disabled here",
        digest("upstream their-alice"),
    )
    assert ProviderSignInFailed(provider="upstream", subject=theirs, cause=cause) in events


WITHDRAWN = ("disabled", "removed", "not trusted any more", "provider removed")


@pytest.mark.parametrize("change", WITHDRAWN)
async def test_session_and_tokens_end_with_the_account_and_with_the_trust(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, config: dict[str, Any], change: str
) -> None:
    fake.claims = VERIFIED
    page = await come_back(scope="openid api1 offline_access")
    tokens = await app.redeem(page.parameters["code"])
    assert await app.service.is_active(tokens["access_token"])
    match change:
        case "disabled":
            user_in(config, "alice")["enabled"] = False
        case "removed":
            config["users"]["list"].remove(user_in(config, "alice"))
        case "not trusted any more":
            config["identity_providers"][0]["trust_email"] = False
        case _:
            config["identity_providers"] = []
    app.service.reload(config)
    assert not await app.service.is_active(tokens["access_token"])
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")
    assert (await app.authorize(prompt="none")).error == "login_required"


async def test_users_claims_are_those_of_today(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, config: dict[str, Any]
) -> None:
    fake.claims = VERIFIED
    page = await come_back(scope="openid profile")
    tokens = await app.redeem(page.parameters["code"])
    user_in(config, "alice")["claims"]["name"] = "Alice Jones"
    app.service.reload(config)
    assert (await userinfo(app.service, tokens))["name"] == "Alice Jones"


TENANTS = {"tenants": [{"name": "acme", "providers": ["upstream"]}, {"name": "other"}]}


@pytest.mark.parametrize(("tenant", "links"), [("acme", True), ("other", False), (None, False)])
async def test_provider_of_a_tenant_links_users_of_that_tenant_alone(  # noqa: PLR0917 - fixtures
    app: ClientApp,
    come_back: ComeBack,
    fake: FakeProvider,
    config: dict[str, Any],
    tenant: str | None,
    links: bool,
) -> None:
    if tenant is not None:
        user_in(config, "alice")["tenant"] = tenant
    app.service.reload(config | TENANTS)
    fake.claims = VERIFIED
    assert (await subject(app, come_back) == ALICE) is links


async def test_logout_at_the_provider_ends_the_session_of_the_account(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider
) -> None:
    fake.claims = VERIFIED
    assert arrived(await come_back())
    await fake.log_out(app.service)
    assert (await app.authorize(prompt="none")).error == "login_required"


async def test_account_page_shows_the_name_of_the_user_here(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider
) -> None:
    fake.claims = VERIFIED
    await come_back()
    assert "alice" in (await app.browser.get("/account")).text


@pytest.mark.rfc("8176#2")
async def test_second_factor_of_the_account_is_asked_for(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider
) -> None:
    phone = Phone()
    await phone.enrol(app.service)
    fake.claims = VERIFIED
    half = await come_back()
    assert (half.path, "sid" in app.browser.cookies) == ("/account/second-factor", False)
    assert (await app.authorize(prompt="none")).error == "login_required"
    assert arrived(await app.browser.submit(half, otp=phone.code()))
