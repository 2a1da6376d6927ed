"""A provider's user that a user of this service lists signs in as that user, by the exact subject (OIDC Core §5.7)."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.providers import ProviderSignInFailed, ProviderSignInSucceeded
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration, user_in
from tests.driving.service import claims_in
from tests.factors.phone import Phone
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import ComeBack, arrived, provider_entry, subject, userinfo

pytestmark = pytest.mark.rfc("openid-core#5.7")

ALICE = "818727"
THERE = "Alice@there"


@pytest.fixture
def config(fake: FakeProvider) -> dict[str, Any]:
    configuration = fresh_configuration()
    configuration["identity_providers"] = [provider_entry(fake.issuer)]
    user_in(configuration, "alice")["identities"] = [{"provider": "upstream", "subject": THERE}]
    return configuration


@pytest.fixture(autouse=True)
def signed_in_there(fake: FakeProvider) -> None:
    fake.claims = {"sub": THERE, "name": "Theirs"}
    fake.userinfo = {"sub": THERE}


async def test_sign_in_at_the_provider_is_one_of_the_user(
    app: ClientApp, come_back: ComeBack, events: list[object]
) -> None:
    page = await come_back(scope="openid profile api1")
    tokens = await app.redeem(page.parameters["code"])
    access = claims_in(tokens["access_token"])
    assert (access["sub"], access["idp"], access["amr"]) == (ALICE, "upstream", ["external"])
    assert (await userinfo(app.service, tokens))["name"] == "Alice Smith"
    succeeded = ProviderSignInSucceeded(provider="upstream", subject=ALICE, amr=("external",))
    assert succeeded in events


@pytest.mark.parametrize(
    "other", ["alice@there", "Alice@there ", "Alice@ther\u0435", "Alice@there2"]
)
async def test_another_subject_is_another_user(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, other: str
) -> None:
    fake.claims, fake.userinfo = {"sub": other}, {"sub": other}
    assert await subject(app, come_back) != ALICE


async def test_same_subject_of_another_provider_is_another_user(
    app: ClientApp, come_back: ComeBack, config: dict[str, Any]
) -> None:
    config["identity_providers"].append(provider_entry("https://other.example", name="other"))
    user_in(config, "alice")["identities"] = [{"provider": "other", "subject": THERE}]
    app.service.reload(config)
    assert await subject(app, come_back) != ALICE


async def test_identity_counts_before_the_verified_address(
    app: ClientApp, come_back: ComeBack, config: dict[str, Any], fake: FakeProvider
) -> None:
    config["identity_providers"][0] |= {"link_by": "verified_email", "trust_email": True}
    app.service.reload(config)
    fake.claims |= {"email": "bob@example.com", "email_verified": True}
    assert await subject(app, come_back) == ALICE


async def test_user_with_a_second_factor_is_asked_for_it(
    app: ClientApp, come_back: ComeBack
) -> None:
    await Phone().enrol(app.service)
    assert (await come_back()).path == "/account/second-factor"


async def test_disabled_user_is_not_signed_in(
    app: ClientApp, come_back: ComeBack, config: dict[str, Any], events: list[object]
) -> None:
    user_in(config, "alice")["enabled"] = False
    app.service.reload(config)
    assert (await come_back()).has("login-error")
    failed = [each.cause for each in events if isinstance(each, ProviderSignInFailed)]
    assert failed == ["the user with its identity is disabled here"]


async def test_tokens_of_the_user_are_inactive_once_the_user_is_disabled(
    app: ClientApp, come_back: ComeBack, config: dict[str, Any]
) -> None:
    tokens = await app.redeem((await come_back()).parameters["code"])
    assert await app.service.is_active(tokens["access_token"])
    user_in(config, "alice")["enabled"] = False
    app.service.reload(config)
    assert not await app.service.is_active(tokens["access_token"])


async def test_client_that_the_user_may_not_use_refuses(
    app: ClientApp, come_back: ComeBack, config: dict[str, Any]
) -> None:
    client_in(config, "web")["allowed_users"] = [{"sub": ["somebody else"]}]
    app.service.reload(config)
    refused = await come_back()
    assert not arrived(refused)
    assert refused.path == "/account/not-allowed"


async def test_user_of_a_tenant_that_the_provider_is_not_of_is_refused(
    app: ClientApp, come_back: ComeBack, config: dict[str, Any], events: list[object]
) -> None:
    config["tenants"] = [{"name": "acme"}, {"name": "other", "providers": ["upstream"]}]
    user_in(config, "alice")["tenant"] = "acme"
    app.service.reload(config)
    assert (await come_back()).has("login-error")
    failed = [each.cause for each in events if isinstance(each, ProviderSignInFailed)]
    assert failed == ["the user with its identity is of another tenant"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"connector_id": "github"}, "CgcyMzQyNzQ5EgZnaXRodWI"),
        ({}, "CgcyMzQyNzQ5Egh1cHN0cmVhbQ"),
    ],
    ids=["by its id in dex", "by the name of the provider"],
)
async def test_user_has_the_subject_that_dex_has_given(  # noqa: PLR0917 - each row is a case
    come_back: ComeBack,
    app: ClientApp,
    fake: FakeProvider,
    config: dict[str, Any],
    settings: dict[str, Any],
    expected: str,
) -> None:
    config["identity_providers"][0] |= {"subject_format": "dex", **settings}
    app.service.reload(config)
    fake.claims = fake.userinfo = {"sub": "2342749"}
    assert await subject(app, come_back) == expected
