"""Clients learn that an address is verified only from a provider that may say so, and about this address (OIDC Core §5.1, §5.7)."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, claims_in
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import ComeBack, arrived, provider_entry, userinfo

pytestmark = pytest.mark.rfc("openid-core#5.1", "openid-core#5.7")

TRUSTED = {"trust_email": True}
EMAIL = {"email": "alice@example.com"}
PHONE = {"phone_number": "+49 30 1"}
VERIFIED = EMAIL | PHONE | {"email_verified": True, "phone_number_verified": True}
UNVERIFIED = EMAIL | PHONE | {"email_verified": False, "phone_number_verified": False}
MAPPED = {"claims": {"mail": "email", "checked": "email_verified"}}


class Case(NamedTuple):
    """Verified addresses of providers, and the claims that clients get."""

    settings: dict[str, Any]
    id_token: dict[str, Any]
    userinfo: dict[str, Any]
    expected: dict[str, Any]


CASES = {
    "trusted": Case(TRUSTED, VERIFIED, {}, VERIFIED),
    "trusted in userinfo": Case(TRUSTED, {}, VERIFIED, VERIFIED),
    "not trusted": Case({}, VERIFIED, {}, UNVERIFIED),
    "not trusted in userinfo": Case({}, {}, VERIFIED, UNVERIFIED),
    "not trusted and nothing said": Case({}, EMAIL | PHONE, {}, UNVERIFIED),
    "not trusted and mapped": Case(
        MAPPED,
        EMAIL | {"mail": "a@b.example", "checked": True},
        {},
        {"email": "a@b.example", "email_verified": False},
    ),
    "of a domain that the provider does not have": Case(
        TRUSTED | {"domains": ["partner.example"]},
        VERIFIED,
        {},
        VERIFIED | {"email_verified": False},
    ),
    "said of the address of the other document": Case(
        TRUSTED, EMAIL | PHONE, VERIFIED, EMAIL | PHONE
    ),
    "said without the address": Case(
        TRUSTED,
        {"email_verified": True, "phone_number_verified": True},
        EMAIL | PHONE,
        EMAIL | PHONE,
    ),
    "refused in the document of the address": Case(TRUSTED, UNVERIFIED, VERIFIED, UNVERIFIED),
    "said of another address than the mapped one": Case(
        TRUSTED | {"claims": {"mail": "email"}},
        EMAIL | {"email_verified": True, "mail": "m@b.example"},
        {},
        {"email": "m@b.example"},
    ),
    "mapped": Case(
        TRUSTED | MAPPED,
        {"mail": "m@b.example", "checked": True},
        {},
        {"email": "m@b.example", "email_verified": True},
    ),
    "mapped from the other document": Case(
        TRUSTED | MAPPED,
        {"mail": "m@b.example"},
        {"mail": "a@b.example", "checked": True},
        {"email": "m@b.example"},
    ),
    "said in words": Case(
        TRUSTED,
        EMAIL | PHONE | {"email_verified": "true", "phone_number_verified": "false"},
        {},
        VERIFIED | {"phone_number_verified": False},
    ),
    "said in words in userinfo": Case(
        TRUSTED, {}, EMAIL | {"email_verified": "true"}, EMAIL | {"email_verified": True}
    ),
    "not trusted and said in words": Case(
        {}, EMAIL | {"email_verified": "true"}, {}, EMAIL | {"email_verified": False}
    ),
    "said in other words": Case(
        TRUSTED,
        EMAIL | PHONE | {"email_verified": "yes", "phone_number_verified": 1},
        {},
        UNVERIFIED,
    ),
    "mapped in words": Case(
        TRUSTED | MAPPED,
        {"mail": "m@b.example", "checked": "true"},
        {},
        {"email": "m@b.example", "email_verified": True},
    ),
    "mapped to itself": Case(TRUSTED | {"claims": {"email": "email"}}, VERIFIED, {}, VERIFIED),
}


@pytest.fixture
def config(faked_config: dict[str, Any]) -> dict[str, Any]:
    web = client_in(faked_config, "web")
    web["allowed_scopes"].append("phone")
    web["always_include_user_claims_in_id_token"] = True
    return faked_config


async def sign_in(app: ClientApp, come_back: ComeBack) -> Answer:
    """The client's tokens after a sign-in at the provider."""
    page = await come_back(scope="openid email phone offline_access")
    return await app.redeem(page.parameters["code"])


def of_addresses(claims: dict[str, Any]) -> dict[str, Any]:
    """Those that a test is about."""
    return {name: value for name, value in claims.items() if name in VERIFIED}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_an_address_is_verified_only_if_its_provider_may_say_so(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, config: dict[str, Any], case: Case
) -> None:
    config["identity_providers"] = [provider_entry(fake.issuer, **case.settings)]
    app.service.reload(config)
    fake.claims, fake.userinfo = case.id_token, case.userinfo
    tokens = await sign_in(app, come_back)
    assert of_addresses(claims_in(tokens["id_token"])) == case.expected
    assert of_addresses(await userinfo(app.service, tokens)) == case.expected


async def test_an_address_is_verified_no_longer_after_the_trust_is_taken_back(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, config: dict[str, Any]
) -> None:
    config["identity_providers"][0]["trust_email"] = True
    app.service.reload(config)
    fake.claims = VERIFIED
    tokens = await sign_in(app, come_back)
    config["identity_providers"][0]["trust_email"] = False
    app.service.reload(config)
    assert of_addresses(await userinfo(app.service, tokens)) == UNVERIFIED
    refreshed = await app.refresh(tokens["refresh_token"])
    assert of_addresses(claims_in(refreshed["id_token"])) == UNVERIFIED


async def test_users_may_be_allowed_by_an_address_that_is_verified_in_the_same_document(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, config: dict[str, Any]
) -> None:
    allowed = [{"email": ["alice@example.com"], "email_verified": [True]}]
    config["identity_providers"][0]["allowed_claims"] = allowed
    app.service.reload(config)
    fake.claims, fake.userinfo = EMAIL, {"email": "mallory@example.com", "email_verified": True}
    assert not arrived(await come_back())
