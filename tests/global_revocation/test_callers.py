"""Clients ask by their usual credentials, and metadata name the endpoint and its methods (draft-parecki-oauth-global-token-revocation-06 §3.2, §5)."""

from __future__ import annotations

from typing import Any

import pytest

from service.protocol.errors import TemporarilyUnavailable
from tests.clients.signing import Signer, key_of
from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.global_revocation.okta import (
    PATH,
    Okta,
    ask,
    ask_as,
    email,
    iss_sub,
    opaque,
)
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import ComeBack, provider_entry

pytestmark = pytest.mark.rfc("global-token-revocation#3.2", "global-token-revocation#5")

ALICE = "818727"
NAME = "global_token_revocation_endpoint"


async def metadata(service: RunningService) -> dict[str, Any]:
    document = (await service.get("/.well-known/openid-configuration")).json
    return {name: value for name, value in document.items() if name.startswith(NAME)}


async def tokens_by_provider(app: ClientApp, fake: FakeProvider) -> Any:
    """The tokens of a user who signs in at the provider."""
    sent = await app.authorize(acr_values="idp:upstream")
    page = await app.browser.get(fake.answer(sent))
    return await app.redeem(page.parameters["code"])


async def test_metadata_name_the_endpoint_and_how_callers_authenticate(
    service: RunningService,
) -> None:
    assert await metadata(service) == {
        NAME: service.issuer + PATH,
        f"{NAME}_auth_methods_supported": [
            "client_secret_basic",
            "private_key_jwt",
            "global-token-revocation+jwt",
        ],
    }


async def test_metadata_name_no_endpoint_without_callers(
    start: Start, config: dict[str, Any]
) -> None:
    config["identity_providers"] = []
    config["clients"] = [each for each in config["clients"] if "may_revoke_subjects" not in each]
    service = await start(config)
    assert await metadata(service) == {}
    assert (await ask_as(service, "web", opaque(ALICE))).refusal == (403, "unauthorized_client")


@pytest.mark.parametrize("named", ["opaque", "iss_sub", "email"])
@pytest.mark.parametrize("client", ["siem", "acme-siem"])
async def test_a_client_ends_all_that_a_user_of_its_tenants_has(
    app: ClientApp, client: str, named: str
) -> None:
    service = app.service
    tokens = await app.tokens(scope="openid api1 offline_access")
    body = {
        "opaque": opaque(ALICE),
        "iss_sub": iss_sub(service.issuer, ALICE),
        "email": email("ALICE@example.com"),
    }[named]
    assert (await ask_as(service, client, body)).status == 204
    assert not await service.is_active(tokens["access_token"])
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")
    assert (await ask_as(service, client, body)).status == 204


async def test_a_client_sends_its_assertion_as_a_bearer_token(
    service: RunningService, app: ClientApp
) -> None:
    tokens = await app.tokens()
    signer = Signer(service, "signer", "ES256")
    jwt = await key_of("ES256").sign(signer.claims(aud=service.issuer + PATH), typ="JWT")
    answer = await ask(service, opaque(ALICE), authorization=f"Bearer {jwt}")
    assert answer.status == 204
    assert not await service.is_active(tokens["access_token"])
    replayed = await ask(service, opaque(ALICE), authorization=f"Bearer {jwt}")
    assert replayed.refusal == (401, "invalid_client")


async def test_a_token_of_this_service_is_no_assertion(
    service: RunningService, app: ClientApp
) -> None:
    tokens = await app.tokens()
    for token in (tokens["access_token"], tokens["id_token"]):
        answer = await ask(service, opaque(ALICE), authorization=f"Bearer {token}")
        assert answer.refusal == (401, "invalid_client")
    assert await service.is_active(tokens["access_token"])


async def test_a_client_reaches_users_of_providers_by_their_issuer(
    okta: Okta, app: ClientApp, come_back: ComeBack
) -> None:
    tokens = await app.redeem((await come_back()).parameters["code"])
    elsewhere = iss_sub("https://other.example", "their-alice")
    assert (await ask_as(app.service, "siem", elsewhere)).status == 404
    assert await app.service.is_active(tokens["access_token"])
    body = iss_sub(okta.provider.issuer, "their-alice")
    assert (await ask_as(app.service, "siem", body)).status == 204
    assert not await app.service.is_active(tokens["access_token"])


async def test_a_provider_of_another_issuer_hides_no_user_of_the_one_that_is_named(
    start: Start, config: dict[str, Any], fake: FakeProvider
) -> None:
    unrelated = provider_entry("https://unrelated.example", name="unrelated")
    config["identity_providers"].insert(0, unrelated)
    service = await start(config)
    app = ClientApp(service, Browser(service.issuer))
    tokens = await tokens_by_provider(app, fake)
    assert (await ask_as(service, "siem", iss_sub(fake.issuer, "their-alice"))).status == 204
    assert not await service.is_active(tokens["access_token"])
    await app.browser.close()


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_providers_word_about_an_address_counts_for_clients_as_in_tokens(
    start: Start, config: dict[str, Any], fake: FakeProvider, trusted: bool
) -> None:
    config["identity_providers"][0] |= {"trust_email": trusted, "domains": ["okta.example"]}
    service = await start(config)
    app = ClientApp(service, Browser(service.issuer))
    fake.claims = {"email": "alice@okta.example", "email_verified": True}
    tokens = await tokens_by_provider(app, fake)
    answer = await ask_as(service, "siem", email("alice@okta.example"))
    assert answer.status == (204 if trusted else 404)
    assert await service.is_active(tokens["access_token"]) is not trusted
    await app.browser.close()


async def test_a_user_in_no_source_who_has_something_here_is_found(
    service: RunningService, app: ClientApp, config: dict[str, Any]
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    config["users"]["list"] = config["users"]["list"][1:]
    service.reload(config)
    assert (await ask_as(service, "acme-siem", opaque(ALICE))).status == 404
    assert (await ask_as(service, "siem", opaque(ALICE))).status == 204
    assert await service.features.shared.authorizations.find_all_of(ALICE) == ()
    assert (await ask_as(service, "siem", opaque(ALICE))).status == 204
    assert (await ask_as(service, "pairwise", email("alice@example.com"))).status == 404
    assert claims_in(tokens["access_token"])["sub"] == ALICE


async def test_users_that_cannot_be_found_by_address_cannot_be_ended_by_it(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.features.shared.users, "email_gap", "no query by_email")
    answer = await ask_as(service, "siem", email("nobody@example.com"))
    assert answer.refusal == (422, "invalid_request")
    assert (await ask_as(service, "siem", opaque(ALICE))).status == 204


async def test_an_unavailable_source_is_no_unknown_user(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: str) -> None:
        raise TemporarilyUnavailable("users.source does not answer")

    monkeypatch.setattr(service.features.shared.users, "by_subject", fail)
    answer = await ask_as(service, "siem", opaque(ALICE))
    assert answer.refusal == (503, "temporarily_unavailable")


async def test_a_source_that_finds_an_address_that_is_not_verified_is_not_believed(
    service: RunningService, app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = service.features.shared.users
    bob = await users.by_subject("88421113")

    async def find(_: str) -> Any:
        return bob

    monkeypatch.setattr(users, "by_email", find)
    tokens = await app.tokens("bob")
    answer = await ask_as(service, "siem", email("bob@example.com"))
    assert answer.refusal == (404, "unknown_user_id")
    assert await service.is_active(tokens["access_token"])


async def test_a_source_that_answers_with_another_user_is_not_believed(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = service.features.shared.users
    bob = await users.by_subject("88421113")

    async def find(_: str) -> Any:
        return bob

    monkeypatch.setattr(users, "by_subject", find)
    answer = await ask_as(service, "siem", opaque("88421113 "))
    assert answer.refusal == (404, "unknown_user_id")
    assert (await ask_as(service, "siem", opaque("88421113"))).status == 204


@pytest.mark.parametrize(("tenants", "status"), [(["acme", "beta"], 204), (["beta"], 404)])
async def test_a_providers_user_is_of_the_providers_tenant(
    start: Start, config: dict[str, Any], fake: FakeProvider, tenants: list[str], status: int
) -> None:
    config["tenants"][0]["providers"] = ["upstream"]
    client_in(config, "acme-siem")["tenants"] = tenants
    service = await start(config)
    app = ClientApp(service, Browser(service.issuer))
    tokens = await tokens_by_provider(app, fake)
    answer = await ask_as(service, "acme-siem", iss_sub(fake.issuer, "their-alice"))
    assert answer.status == status
    assert await service.is_active(tokens["access_token"]) is (status == 404)
    await app.browser.close()


class TestEmail:
    """An address has to be the verified one of exactly one user (RFC 9493 §3.2.2)."""

    @staticmethod
    def with_address(config: dict[str, Any], at: int, email: str, *, verified: bool = True) -> None:
        claims = config["users"]["list"][at].setdefault("claims", {})
        claims |= {"email": email, "email_verified": verified}

    @pytest.mark.parametrize(
        ("stored", "verified", "asked", "status"),
        [
            ("alice@example.com", True, "Alice@EXAMPLE.com", 204),
            ("Alice@Example.com", True, "alice@example.com", 204),
            ("alice@example.com", False, "alice@example.com", 404),
            ("alice@example.com", True, " alice@example.com", 404),
            ("alice@example.com", True, "alice@example.com.", 404),
            ("alice@xn--bcher-kva.example", True, "alice@xn--bcher-kva.example", 204),
            ("alice@xn--bcher-kva.example", True, "alice@bücher.example", 404),
            ("alice@bücher.example", True, "alice@xn--bcher-kva.example", 404),
            ("alice@bücher.example", True, "alice@bücher.example", 404),
            ("mar\u212a@example.com", True, "mark@example.com", 404),
        ],
    )
    async def test_only_the_same_verified_address_in_ascii_counts(
        self,
        start: Start,
        config: dict[str, Any],
        *,
        stored: str,
        verified: bool,
        asked: str,
        status: int,
    ) -> None:
        self.with_address(config, 0, stored, verified=verified)
        service = await start(config)
        app = ClientApp(service, Browser(service.issuer))
        tokens = await app.tokens()
        answer = await ask_as(service, "siem", email(asked))
        assert answer.status == status
        assert status == 204 or answer.error == "unknown_user_id"
        assert await service.is_active(tokens["access_token"]) is (status == 404)
        await app.browser.close()

    async def test_an_address_of_several_users_ends_the_access_of_none(
        self, start: Start, config: dict[str, Any], fake: FakeProvider
    ) -> None:
        """Neither that of a provider's user who has it as well, who would be the only one without them."""
        self.with_address(config, 0, "shared@okta.example")
        self.with_address(config, 1, "Shared@okta.example")
        config["identity_providers"][0] |= {"trust_email": True, "domains": ["okta.example"]}
        service = await start(config)
        app = ClientApp(service, Browser(service.issuer))
        fake.claims = {"email": "shared@okta.example", "email_verified": True}
        tokens = await tokens_by_provider(app, fake)
        answer = await ask_as(service, "siem", email("shared@okta.example"))
        assert answer.refusal == (404, "unknown_user_id")
        assert await service.is_active(tokens["access_token"])
        await app.browser.close()

    async def test_an_address_of_a_user_and_a_providers_user_ends_the_access_of_none(
        self, start: Start, config: dict[str, Any], fake: FakeProvider
    ) -> None:
        self.with_address(config, 0, "alice@okta.example")
        config["identity_providers"][0] |= {"trust_email": True, "domains": ["okta.example"]}
        service = await start(config)
        app = ClientApp(service, Browser(service.issuer))
        fake.claims = {"email": "alice@okta.example", "email_verified": True}
        tokens = await tokens_by_provider(app, fake)
        answer = await ask_as(service, "siem", email("alice@okta.example"))
        assert answer.refusal == (404, "unknown_user_id")
        assert await service.is_active(tokens["access_token"])
        await app.browser.close()
