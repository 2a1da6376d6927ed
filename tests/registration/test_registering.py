"""A client registers itself and is one like any other (RFC 7591 §3, OpenID Connect Registration §3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from service.events.clients import ClientRegistered, RegistrationRefused
from service.model.client_metadata import RegisteredClient, new_client_id, selector_of
from tests.conftest import Start
from tests.driving.client_app import ClientApp
from tests.driving.registering import REDIRECT_URI, RegisteredApp, register
from tests.driving.service import RunningService

Registering = Callable[..., Awaitable[RegisteredApp]]
pytestmark = pytest.mark.rfc("7591#3.2.1", "openid-registration#3.2")


async def test_a_client_registers_itself_and_gets_tokens(
    registering: Registering, service: RunningService
) -> None:
    client = await registering(client_name="Mine")
    tokens = await client.tokens(scope="openid api1")
    assert tokens.status == 200
    assert await service.is_active(tokens["access_token"])


async def test_the_answer_has_the_metadata_in_force(service: RunningService) -> None:
    answer = await register(service, client_name="Mine", unknown="ignored")
    told = answer.json
    assert answer.status == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert (
        told.items()
        >= {
            "client_name": "Mine",
            "redirect_uris": [REDIRECT_URI],
            "grant_types": ["authorization_code"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_basic",
            "application_type": "web",
            "subject_type": "public",
            "scope": "api1 email openid profile",
        }.items()
    )
    place = f"{service.issuer}/connect/register/{told['client_id']}"
    assert told["registration_client_uri"] == place
    assert "unknown" not in told


@pytest.mark.parametrize("alg", [["RS256", "ES256"], ["ES256", "RS256"], ["PS256"]], ids="-".join)
async def test_identity_tokens_are_signed_by_rs256_if_it_is_configured(
    start: Start, config: dict[str, Any], alg: list[str]
) -> None:
    service = await start(config | {"signing": {"algorithms": alg}})
    told = await register(service)
    wanted = "RS256" if "RS256" in alg else alg[0]
    assert told["id_token_signed_response_alg"] == wanted


async def test_no_two_clients_share_anything(service: RunningService) -> None:
    one, other = await register(service), await register(service)
    for secret in ("client_id", "client_secret", "registration_access_token"):
        assert one[secret] != other[secret]


@pytest.mark.rfc("7518#3.2")
async def test_a_secret_is_long_enough_for_every_algorithm(service: RunningService) -> None:
    assert len((await register(service))["client_secret"]) >= 64


async def test_the_store_holds_neither_secret_nor_token(service: RunningService) -> None:
    told = await register(service)
    keys = [key async for key in service.features.shared.kv.find_keys("*:rc")]
    stored = b"".join([await service.features.shared.kv.get(key) or b"" for key in keys])
    assert told["client_id"].encode() in stored
    assert told["client_secret"].encode() not in stored
    assert told["registration_access_token"].encode() not in stored


@pytest.mark.parametrize(
    "method", ["client_secret_basic", "client_secret_post", "none", "client_secret_jwt"]
)
async def test_a_client_that_needs_no_secret_gets_none(
    service: RunningService, method: str
) -> None:
    told = await register(service, token_endpoint_auth_method=method)
    assert ("client_secret" in told.json) is (method != "none")
    assert ("client_secret_expires_at" in told.json) is (method != "none")


async def test_only_the_registered_method_authenticates(service: RunningService) -> None:
    told = await register(service, grant_types=["client_credentials"], redirect_uris=None)
    form = {"client_id": told["client_id"], "client_secret": told["client_secret"]}
    refused = await service.token(None, grant_type="client_credentials", **form)
    assert refused.refusal == (401, "invalid_client")


async def test_a_client_may_act_for_itself(service: RunningService) -> None:
    told = await register(service, grant_types=["client_credentials"], redirect_uris=None)
    pair = told["client_id"], told["client_secret"]
    answer = await service.token(pair, grant_type="client_credentials", scope="api1")
    assert answer.status == 200


@pytest.mark.rfc("7636#4.4.1")
async def test_a_public_client_has_to_send_a_challenge(registering: Registering) -> None:
    client = await registering(token_endpoint_auth_method="none")
    page = await client.authorize(code_challenge=None, code_challenge_method=None)
    assert page.error == "invalid_request"
    assert (await client.tokens()).status == 200


async def test_a_confidential_client_may_omit_the_challenge(registering: Registering) -> None:
    client = await registering()
    code = await client.code(code_challenge=None, code_challenge_method=None)
    assert (await client.redeem(code, code_verifier=None)).status == 200


@pytest.mark.rfc("openid-core#3.1.2.4")
async def test_the_user_is_asked_for_consent(registering: Registering) -> None:
    page = await (await registering(client_name="Stranger")).login()
    assert page.has("consent-allow")
    assert "Stranger" in page.text


@pytest.mark.rfc("7591#5")
async def test_the_user_sees_the_host_that_gets_the_answer(
    registering: Registering, app_of: Callable[[str], ClientApp]
) -> None:
    page = await (await registering()).login()
    assert page.text_of("stranger").endswith("sent to registered.example.")
    assert not (await app_of("consenting").authorize()).has("stranger")


@pytest.mark.rfc("7591#5")
async def test_the_user_sees_the_scheme_of_an_application_on_the_device(
    registering: Registering,
) -> None:
    uri = "com.example.app:/cb"
    native = {"application_type": "native", "token_endpoint_auth_method": "none"}
    page = await (await registering(redirect_uris=[uri], **native)).login()
    assert page.text_of("stranger").endswith("sent to com.example.app:.")


@pytest.mark.rfc("openid-core#3.1.2.4")
async def test_the_consent_is_remembered(registering: Registering) -> None:
    client = await registering()
    page = await client.login()
    await client.browser.submit(page, action="allow", remember="true")
    assert "code" in (await client.authorize(prompt="none")).parameters


async def test_a_client_may_register_less_scope(registering: Registering) -> None:
    client = await registering(scope="openid email")
    assert client.registered["scope"] == "email openid"
    assert (await client.authorize(scope="openid api1")).error == "invalid_scope"


@pytest.mark.rfc("openid-core#11")
async def test_offline_access_needs_the_refresh_token_grant(registering: Registering) -> None:
    client = await registering(grant_types=["authorization_code", "refresh_token"])
    tokens = await client.tokens(scope="openid offline_access")
    assert (await client.refresh(tokens["refresh_token"])).status == 200
    other = await registering()
    assert "offline_access" not in other.registered["scope"]
    assert (await other.authorize(scope="openid offline_access")).error == "invalid_scope"


async def test_an_id_of_another_form_costs_no_look_up(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the store was asked")

    monkeypatch.setattr(type(service.features.shared.kv), "read", fail)
    for unknown in (
        "stranger",
        "dc_",
        "dc_tooshort",
        "dc_0123456789abcdef0",
        "dc_0123456789abcde{",
    ):
        assert await service.features.clients.find(unknown) is None
    assert await service.features.clients.find("web") is not None


async def test_registrations_and_refusals_are_logged(
    service: RunningService, events: list[object]
) -> None:
    told = await register(service, client_name="Mine")
    await register(service, redirect_uris=None)
    assert ClientRegistered(client_id=told["client_id"]) in events
    refused = [event.error for event in events if isinstance(event, RegistrationRefused)]
    assert refused == ["invalid_redirect_uri"]


class TestSwitchedOff:
    """Registration is off where the configuration says nothing."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["registration"]["enabled"] = False
        return config

    async def test_registration_is_refused_if_it_is_off(self, service: RunningService) -> None:
        assert (await register(service)).status == 404
        assert (await service.get("/connect/register/dc_0123456789abcdef")).status == 404

    async def test_discovery_does_not_list_registration_if_it_is_off(
        self, service: RunningService
    ) -> None:
        document = await service.get("/.well-known/openid-configuration")
        assert "registration_endpoint" not in document.json

    async def test_a_client_that_registered_before_is_unknown_if_registration_is_off(
        self, service: RunningService
    ) -> None:
        stores, client_id = service.features.shared.stores, new_client_id()
        record = RegisteredClient(
            client_id=client_id,
            issued_at=0,
            expires_at=None,
            metadata={"redirect_uris": [REDIRECT_URI]},
            access_token_digest="",
            secret_sha256=None,
            sealed_secret=None,
        )
        await stores.kv.write(
            stores.registered_clients.put_lasting(record, str(selector_of(client_id)))
        )
        assert await service.features.clients.find(client_id) is None
