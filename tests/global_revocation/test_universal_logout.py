"""Okta's Universal Logout signs a user out everywhere (draft-parecki-oauth-global-token-revocation-06 §3)."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.users import SubjectRevoked
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import claims_in
from tests.global_revocation.okta import Okta, email, iss_sub, opaque
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import ComeBack
from tests.logout.relying_party import RelyingParty

pytestmark = pytest.mark.rfc("global-token-revocation#3.2", "global-token-revocation#3.3")

ALICE = "818727"
OFFLINE = "openid api1 offline_access"


@pytest.fixture
def config(config: dict[str, Any], party: RelyingParty) -> dict[str, Any]:
    client_in(config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
    return config


@pytest.fixture
def verified(fake: FakeProvider) -> None:
    """Okta says that its Alice's address is verified."""
    fake.claims = {"email": "Alice@okta.example", "email_verified": True}


@pytest.mark.usefixtures("verified")
@pytest.mark.parametrize("named", ["email", "iss_sub", "opaque"])
async def test_a_user_of_the_provider_is_signed_out_everywhere(
    okta: Okta, app: ClientApp, come_back: ComeBack, party: RelyingParty, named: str
) -> None:
    service, tokens = app.service, None
    page = await come_back(scope=OFFLINE)
    tokens = await app.redeem(page.parameters["code"])
    claims = claims_in(tokens["access_token"])
    body = {
        "email": email("alice@OKTA.example"),
        "iss_sub": iss_sub(okta.provider.issuer, "their-alice"),
        "opaque": opaque(claims["sub"]),
    }[named]
    answer = await okta.log_out(body)
    assert (answer.status, answer.body, answer.headers["Cache-Control"]) == (204, b"", "no-store")
    assert not await service.is_active(tokens["access_token"])
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")
    assert (await app.authorize(prompt="none")).error == "login_required"
    (told,) = await party.claims()
    assert (told["sub"], told["sid"]) == (claims["sub"], claims_in(tokens["id_token"])["sid"])
    (event,) = [each for each in service.events if isinstance(each, SubjectRevoked)]
    assert event == SubjectRevoked(
        subject=claims["sub"], provider="upstream", sessions=1, grants=1, consents=0, requests=0
    )


@pytest.mark.usefixtures("verified")
async def test_the_same_again_is_answered_the_same_and_changes_nothing(
    okta: Okta, app: ClientApp, come_back: ComeBack
) -> None:
    await come_back()
    for body in (
        email("alice@okta.example"),
        email("alice@okta.example"),
        iss_sub(okta.provider.issuer, "their-alice"),
    ):
        assert (await okta.log_out(body)).status == 204
    events = [each for each in app.service.events if isinstance(each, SubjectRevoked)]
    assert [each.sessions for each in events] == [1, 0, 0]


@pytest.mark.usefixtures("verified")
async def test_a_user_whose_session_ended_keeps_no_offline_access(
    okta: Okta, app: ClientApp, come_back: ComeBack
) -> None:
    tokens = await app.redeem((await come_back(scope=OFFLINE)).parameters["code"])
    shared = app.service.features.shared
    subject = claims_in(tokens["access_token"])["sub"]
    await shared.sessions.end(*await shared.sessions.find_all_of(subject))
    assert (await okta.log_out(email("alice@okta.example"))).status == 204
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")


async def test_a_user_of_this_service_who_is_the_providers_too_is_signed_out_here(
    okta: Okta, app: ClientApp, config: dict[str, Any], fake: FakeProvider
) -> None:
    users = config["users"]["list"]
    users[0]["identities"] = [{"provider": "upstream", "subject": "their-alice"}]
    users[1]["identities"] = [{"provider": "elsewhere", "subject": "their-bob"}]
    config["tenants"] = []
    for user in users:
        user.pop("tenant", None)
    config["clients"] = [each for each in config["clients"] if "tenants" not in each]
    app.service.reload(config)
    tokens = await app.tokens(scope=OFFLINE)
    assert (await okta.log_out(iss_sub(fake.issuer, "their-alice"))).status == 204
    assert not await app.service.is_active(tokens["access_token"])
    assert (await okta.log_out(email("alice@example.com"))).status == 204
    assert (await okta.log_out(opaque(ALICE))).status == 204
    assert (await okta.log_out(iss_sub(app.service.issuer, ALICE))).status == 204
    assert (await okta.log_out(opaque("88421113"))).status == 404


async def test_an_account_that_was_linked_by_its_address_is_signed_out(
    okta: Okta, app: ClientApp, config: dict[str, Any], come_back: ComeBack
) -> None:
    config["identity_providers"][0] |= {"trust_email": True, "link_by": "verified_email"}
    config["tenants"] = []
    for user in config["users"]["list"]:
        user.pop("tenant", None)
    config["clients"] = [each for each in config["clients"] if "tenants" not in each]
    app.service.reload(config)
    okta.provider.claims = {"email": "alice@example.com", "email_verified": True}
    tokens = await app.redeem((await come_back(scope=OFFLINE)).parameters["code"])
    assert claims_in(tokens["access_token"])["sub"] == ALICE
    assert (await okta.log_out(iss_sub(okta.provider.issuer, "their-alice"))).status == 204
    assert not await app.service.is_active(tokens["access_token"])


async def test_a_sign_in_at_the_provider_that_began_before_is_refused(
    okta: Okta, app: ClientApp, come_back: ComeBack, fake: FakeProvider, clock: Clock
) -> None:
    await come_back()
    other = Browser(app.service.issuer)
    on_the_way = await ClientApp(app.service, other).authorize(acr_values="idp:upstream")
    clock.forward(seconds=5)
    assert (await okta.log_out(iss_sub(fake.issuer, "their-alice"))).status == 204
    clock.forward(seconds=5)
    refused = await other.get(fake.answer(on_the_way))
    assert (refused.status, "sign in again" in refused.text) == (400, True)
    await other.close()
    assert "code" in (await come_back()).parameters


async def test_a_jwt_without_times_but_its_end_is_enough(okta: Okta, come_back: ComeBack) -> None:
    await come_back()
    jwt = await okta.jwt(nbf=None, iat=None)
    body = iss_sub(okta.provider.issuer, "their-alice")
    assert (await okta.send(body, jwt)).status == 204


async def test_an_address_of_two_users_of_the_provider_is_not_one_users(
    okta: Okta, app: ClientApp, come_back: ComeBack, fake: FakeProvider
) -> None:
    fake.claims = {"email": "desk@okta.example", "email_verified": True}
    tokens = await app.redeem((await come_back(scope=OFFLINE)).parameters["code"])
    fake.claims |= {"sub": "their-bob"}
    await come_back(scope=OFFLINE, prompt="login")
    answer = await okta.log_out(email("desk@okta.example"))
    assert answer.refusal == (404, "unknown_user_id")
    assert (await app.refresh(tokens["refresh_token"])).status == 200
    assert (await okta.log_out(iss_sub(fake.issuer, "their-alice"))).status == 204
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")
    assert (await okta.log_out(email("desk@okta.example"))).refusal == (404, "unknown_user_id")
