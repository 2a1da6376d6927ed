"""An assertion is about one user here, for as long as that user is active (RFC 7521 §5.2, RFC 7523 §3, RFC 7662 §2.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import AsyncMock

import pytest

from service.identity.users import FileUsers
from service.model.handle import digest
from service.model.user import UsersUnavailable
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.identity_providers.journey import userinfo
from tests.jwt_bearer.foreign import ISSUER, Partner

pytestmark = pytest.mark.rfc("7523#3", "7521#5.2")

REFUSED = (400, "invalid_grant")
PROVIDER = {"name": "upstream", "issuer": ISSUER, "client_id": "us", "client_secret": "s"}


def trusting(**changes: Any) -> pytest.MarkDecorator:
    """Tests run with this trusted issuer."""
    return pytest.mark.parametrize("trusted", [changes])


@trusting(subject="{tenant}/{sub}@partner")
async def test_a_subject_is_made_of_claims(partner: Partner) -> None:
    answer = await partner.grant(tenant="acme")
    assert claims_in(answer["access_token"])["sub"] == "acme/their-alice@partner"


@trusting(subject="partner:{tenant}")
@pytest.mark.parametrize(
    "tenant", [None, "", True, 1.5, ["acme"], {"a": "b"}, "a" * 248, "é", "a\n"]
)
async def test_a_claim_of_the_subject_has_to_be_a_short_ascii_text(
    partner: Partner, tenant: Any
) -> None:
    assert (await partner.grant(tenant=tenant)).refusal == REFUSED


@trusting(subject="partner:{employee}")
async def test_a_claim_of_the_subject_may_be_a_whole_number(partner: Partner) -> None:
    answer = await partner.grant(employee=17)
    assert claims_in(answer["access_token"])["sub"] == "partner:17"


@trusting(subject="partner:{https://partner.example/id}")
async def test_a_claim_may_have_a_url_as_its_name(partner: Partner) -> None:
    answer = await partner.grant(**{"https://partner.example/id": "{sub}"})
    assert claims_in(answer["access_token"])["sub"] == "partner:{sub}"


@trusting(subject="{sub}")
async def test_a_user_of_the_store_is_not_for_others_to_speak_about(partner: Partner) -> None:
    assertion = await partner.assertion(sub="818727")
    assert (await partner.present(assertion)).refusal == REFUSED


@trusting(subject="{sub}", existing_user=True)
async def test_a_user_of_the_store_gets_tokens_if_the_issuer_may(partner: Partner) -> None:
    answer = await partner.present(await partner.assertion(sub="818727"), scope="api1")
    claims = claims_in(answer["access_token"])
    assert (claims["sub"], claims["email"]) == ("818727", "alice@example.com")
    assert await partner.service.is_active(answer["access_token"])


@trusting(subject="{sub}", existing_user=True)
async def test_a_disabled_user_gets_no_tokens(partner: Partner) -> None:
    assert (await partner.grant(sub="5")).refusal == REFUSED


@trusting(subject="{sub}", existing_user=True)
async def test_tokens_end_when_the_user_is_disabled(
    partner: Partner, config: dict[str, Any]
) -> None:
    token = (await partner.grant(sub="818727"))["access_token"]
    config["users"]["list"][0]["enabled"] = False
    partner.service.reload(config)
    assert not await partner.service.is_active(token)


def disable_alice(config: dict[str, Any]) -> None:
    config["users"]["list"][0]["enabled"] = False


def remove_alice(config: dict[str, Any]) -> None:
    del config["users"]["list"][0]


def forbid_users_of_the_store(config: dict[str, Any]) -> None:
    config["trusted_issuers"][0]["existing_user"] = False


@trusting(subject="{sub}", existing_user=True)
@pytest.mark.parametrize("change", [disable_alice, remove_alice, forbid_users_of_the_store])
async def test_tokens_of_a_user_of_the_store_end_when_the_user_or_the_permission_does(
    partner: Partner, config: dict[str, Any], change: Callable[[dict[str, Any]], None]
) -> None:
    token = (await partner.grant(sub="818727"))["access_token"]
    assert await partner.service.is_active(token)
    change(config)
    partner.service.reload(config)
    assert not await partner.service.is_active(token)


@trusting(subject="{sub}", existing_user=True)
@pytest.mark.parametrize("change", [disable_alice, remove_alice, forbid_users_of_the_store])
async def test_tokens_of_an_issuers_own_user_do_not_depend_on_the_store(
    partner: Partner, config: dict[str, Any], change: Callable[[dict[str, Any]], None]
) -> None:
    token = (await partner.present())["access_token"]
    change(config)
    partner.service.reload(config)
    assert await partner.service.is_active(token)


@trusting(subject="{sub}", existing_user=True)
async def test_user_store_is_not_asked_about_a_token_of_an_issuers_own_user(
    partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await partner.present())["access_token"]
    asked = AsyncMock(side_effect=UsersUnavailable("it is away"))
    for name in ("by_subject", "find_token_user"):
        monkeypatch.setattr(FileUsers, name, asked)
    assert await partner.service.is_active(token)
    asked.assert_not_called()


@trusting(subject="{sub}", existing_user=True)
async def test_an_issuer_of_our_users_may_have_others_too(partner: Partner) -> None:
    token = (await partner.present())["access_token"]
    assert await partner.service.is_active(token)


@pytest.mark.parametrize(
    ("trusted", "sub"),
    [({}, "their-alice"), ({"subject": "{sub}", "existing_user": True}, "818727")],
    ids=["of its own user", "of a user of the store"],
)
async def test_tokens_end_with_the_trust_in_the_issuer(
    partner: Partner, config: dict[str, Any], sub: str
) -> None:
    token = (await partner.grant(sub=sub))["access_token"]
    assert await partner.service.is_active(token)
    config["trusted_issuers"] = []
    partner.service.reload(config)
    assert not await partner.service.is_active(token)
    assert (await partner.present()).refusal == REFUSED


async def test_tokens_end_when_the_client_loses_the_grant_type(
    partner: Partner, config: dict[str, Any]
) -> None:
    token = (await partner.present())["access_token"]
    client_in(config, "courier")["allowed_grant_types"] = ["client_credentials"]
    partner.service.reload(config)
    assert not await partner.service.is_active(token)


@trusting(clients=["courier"])
async def test_only_the_listed_clients_may_present_assertions(partner: Partner) -> None:
    assertion = await partner.assertion()
    assert (await partner.by("other-courier").present(assertion)).refusal == REFUSED
    assert (await partner.present(assertion)).status == 200


@trusting(audience="urn:example:us")
@pytest.mark.parametrize(
    ("aud", "refusal"), [("urn:example:us", (200, None)), (None, REFUSED)], ids=["its", "ours"]
)
async def test_an_audience_of_the_issuers_own_replaces_ours(
    partner: Partner, aud: str | None, refusal: Any
) -> None:
    answer = await partner.grant(aud=aud or partner.service.issuer)
    assert answer.refusal == refusal


@trusting(max_lifetime="1m")
async def test_the_longest_life_is_the_issuers_own(partner: Partner) -> None:
    assert (await partner.present()).refusal == REFUSED


@trusting(algorithms=["ES384"])
async def test_the_algorithms_are_the_issuers_own(partner: Partner) -> None:
    assert (await partner.present()).refusal == REFUSED


@trusting(claims={"mail": "email", "team": "team", "role": "scope"})
async def test_claims_get_our_names(partner: Partner) -> None:
    answer = await partner.grant(mail="alice@partner.example", name="Alice", role="admin")
    claims = claims_in(answer["access_token"])
    assert claims["email"] == "alice@partner.example"
    assert claims["scope"] == "api1 api2"
    assert "name" not in claims


@trusting(claims={"mail": "email"})
async def test_userinfo_shows_the_mapped_claims(partner: Partner) -> None:
    assertion = await partner.assertion(mail="alice@partner.example", name="Alice")
    answer = await partner.present(assertion, scope="openid email")
    bearer = {"Authorization": f"Bearer {answer['access_token']}"}
    userinfo = await partner.service.get("/connect/userinfo", headers=bearer)
    assert userinfo.json == {"sub": "partner:their-alice", "email": "alice@partner.example"}


async def test_the_time_of_the_authentication_is_told(partner: Partner) -> None:
    answer = await partner.grant(auth_time=1700000000)
    assert claims_in(answer["access_token"])["auth_time"] == 1700000000


async def test_a_time_of_authentication_that_is_no_number_is_refused(partner: Partner) -> None:
    assert (await partner.grant(auth_time="yesterday")).refusal == REFUSED


@pytest.fixture
def linked(config: dict[str, Any]) -> dict[str, Any]:
    """Let the issuer speak about the users of an identity provider."""
    config["identity_providers"] = [PROVIDER]
    config["trusted_issuers"][0]["identity_provider"] = "upstream"
    return config


@pytest.mark.usefixtures("linked")
async def test_a_user_of_an_identity_provider_is_the_same_user_here(
    service: RunningService,
) -> None:
    claims = claims_in((await Partner(service).present())["access_token"])
    assert (claims["sub"], claims["idp"]) == (digest("upstream their-alice"), "upstream")


@pytest.mark.parametrize(("enabled", "refusal"), [(True, None), (False, REFUSED)])
async def test_an_identity_of_a_user_leads_to_that_user_as_a_sign_in_does(
    linked: dict[str, Any], service: RunningService, enabled: bool, refusal: tuple[int, str] | None
) -> None:
    identity = {"provider": "upstream", "subject": "their-alice"}
    linked["users"]["list"][0] |= {"identities": [identity], "enabled": enabled}
    service.reload(linked)
    answer = await Partner(service).present(scope="openid email")
    assert answer.refusal == refusal if refusal else answer.status == 200
    if refusal is None:
        assert claims_in(answer["access_token"])["sub"] == "818727"
        assert (await userinfo(service, answer))["email"] == "alice@example.com"
        linked["users"]["list"][0]["enabled"] = False
        service.reload(linked)
        assert not await service.is_active(answer["access_token"])


@pytest.mark.rfc("openid-core#5.1")
@pytest.mark.parametrize("trust_email", [False, True])
@pytest.mark.parametrize("verified", [True, "true"])
async def test_an_address_is_verified_if_the_identity_provider_is_trusted(
    linked: dict[str, Any], service: RunningService, trust_email: bool, verified: object
) -> None:
    linked["identity_providers"] = [PROVIDER | {"trust_email": trust_email}]
    claims = {"email": "email", "email_verified": "email_verified"}
    linked["trusted_issuers"][0]["claims"] = claims
    service.reload(linked)
    partner = Partner(service)
    assertion = await partner.assertion(email="a@b.example", email_verified=verified)
    answer = await partner.present(assertion, scope="openid email")
    assert (await userinfo(service, answer))["email_verified"] is trust_email


@pytest.mark.rfc("openid-core#5.1")
@trusting(claims={"email": "email", "checked": "email_verified"})
@pytest.mark.parametrize(("checked", "verified"), [("true", True), ("false", False), ("1", False)])
async def test_a_trusted_issuers_word_about_an_address_becomes_a_boolean(
    partner: Partner, checked: str, verified: bool
) -> None:
    assertion = await partner.assertion(email="a@b.example", checked=checked)
    answer = await partner.present(assertion, scope="openid email")
    assert (await userinfo(partner.service, answer))["email_verified"] is verified


@pytest.mark.rfc("7521#4.1.1")
async def test_a_user_whom_the_identity_provider_does_not_allow_is_refused(
    linked: dict[str, Any], service: RunningService
) -> None:
    provider = PROVIDER | {"allowed_claims": [{"groups": ["staff"]}]}
    service.reload(linked | {"identity_providers": [provider]})
    partner = Partner(service)
    assert (await partner.grant()).refusal == REFUSED
    assert (await partner.grant(groups=["guests"])).refusal == REFUSED
    assert (await partner.grant(groups=["guests", "staff"])).status == 200


async def test_tokens_end_with_the_identity_provider(
    linked: dict[str, Any], service: RunningService
) -> None:
    token = (await Partner(service).present())["access_token"]
    assert await service.is_active(token)
    service.reload(linked | {"identity_providers": [], "trusted_issuers": []})
    assert not await service.is_active(token)
