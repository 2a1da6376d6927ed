"""This service's authentication at a provider, its request there, and the address of the answer (OIDC Core §9, RFC 7523 §2.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from service.events.providers import ProviderSignInFailed
from service.keys.jose import Key
from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import claims_in, header_of
from tests.identity_providers.conftest import Upstream
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import ComeBack, Journey, arrived, provider_entry

KEYS = "/connect/idp/upstream/jwks"
BY_KEY = {"token_endpoint_auth_method": "private_key_jwt", "client_secret": ""}


@pytest.fixture
def own_key(tmp_path: Path) -> dict[str, Any]:
    """The provider's settings with a key of its own, and the file that holds it."""
    file = tmp_path / "own.json"
    file.write_bytes(orjson.dumps(Key.generate("ES384").private_jwk))
    return BY_KEY | {"private_key": str(file), "token_endpoint_auth_signing_alg": "ES384"}


@pytest.fixture
def config(faked_config: dict[str, Any]) -> dict[str, Any]:
    return faked_config


def change(app: ClientApp, config: dict[str, Any], **settings: Any) -> None:
    """Change the provider's entry."""
    (entry,) = config["identity_providers"]
    entry.update(settings)
    app.service.reload(config)


@pytest.mark.rfc("openid-core#9", "7523#2.2")
@pytest.mark.parametrize("settings", ["service", "own"])
async def test_second_instance_accepts_the_client_assertion(
    start: Start, upstream: Upstream, own_key: dict[str, Any], settings: str
) -> None:
    configuration = fresh_configuration()
    changes = own_key if settings == "own" else BY_KEY
    configuration["identity_providers"] = [provider_entry(upstream.issuer, **changes)]
    service = await start(configuration)
    upstream.register(
        service,
        client_secrets=[],
        token_endpoint_auth_method="private_key_jwt",
        jwks_uri=service.issuer + KEYS,
    )
    here = Browser(service.issuer)
    async with Journey.beginning(ClientApp(service, here), upstream.issuer) as journey:
        assert arrived(await journey.and_back())
    await here.close()


async def test_client_assertion_names_one_audience_and_lasts_a_minute(
    come_back: ComeBack, app: ClientApp, config: dict[str, Any], fake: FakeProvider
) -> None:
    change(app, config, **BY_KEY)
    await come_back()
    assertion = claims_in(fake.forms[0]["client_assertion"])
    assert (assertion["iss"], assertion["sub"]) == ("downstream", "downstream")
    assert (assertion["aud"], assertion["exp"] - assertion["iat"]) == (fake.issuer, 60)
    change(app, config, client_assertion_audience="https://theirs.example/token")
    await come_back()
    other = claims_in(fake.forms[1]["client_assertion"])
    assert other["aud"] == "https://theirs.example/token"
    assert other["jti"] != assertion["jti"]


async def test_algorithm_is_one_that_the_provider_takes(
    come_back: ComeBack, app: ClientApp, config: dict[str, Any], fake: FakeProvider
) -> None:
    change(app, config, **BY_KEY)
    fake.metadata = {"token_endpoint_auth_signing_alg_values_supported": ["HS256", "ES256"]}
    await come_back()
    assert header_of(fake.forms[0]["client_assertion"])["alg"] == "ES256"


async def test_no_assertion_is_sent_where_no_algorithm_is_common(
    come_back: ComeBack,
    app: ClientApp,
    config: dict[str, Any],
    fake: FakeProvider,
    events: list[object],
) -> None:
    change(app, config, **BY_KEY)
    fake.metadata = {"token_endpoint_auth_signing_alg_values_supported": ["HS256"]}
    assert (await come_back()).has("login-error")
    cause = "it takes client assertions by none of signing.algorithms"
    assert ProviderSignInFailed(provider="upstream", cause=cause) in events
    assert fake.forms == []


async def test_keys_are_published_for_providers_that_need_them_alone(
    app: ClientApp, config: dict[str, Any], own_key: dict[str, Any]
) -> None:
    assert (await app.service.get(KEYS)).status == 404
    assert (await app.service.get("/connect/idp/nobody/jwks")).status == 404
    change(app, config, **own_key)
    (published,) = (await app.service.get(KEYS)).json["keys"]
    assert (published["alg"], "d" in published) == ("ES384", False)
    Path(own_key["private_key"]).write_text("none")  # noqa: ASYNC240 - a few bytes
    assert (await app.service.get(KEYS)).refusal == (503, "temporarily_unavailable")


async def test_configured_method_counts_whatever_the_metadata_say(
    come_back: ComeBack, app: ClientApp, config: dict[str, Any], fake: FakeProvider
) -> None:
    change(app, config, token_endpoint_auth_method="client_secret_post")
    assert arrived(await come_back())
    assert fake.forms[0]["client_secret"] == "downstream-secret"
    change(app, config, token_endpoint_auth_method="none", client_secret="")
    await come_back(prompt="login")
    assert fake.forms[1].keys() == {
        *("grant_type", "code", "redirect_uri", "code_verifier", "client_id")
    }


@pytest.mark.rfc("openid-core#3.1.2.1")
async def test_provider_is_asked_for_its_contexts_and_prompts(
    app: ClientApp, config: dict[str, Any]
) -> None:
    change(app, config, acr_values=["gold", "silver"], prompt=["select_account"])
    asked = (await app.authorize(acr_values="idp:upstream", prompt="login")).parameters
    assert (asked["acr_values"], asked["prompt"]) == ("gold silver", "login select_account")


@pytest.mark.rfc("9700#4.4.2.2")
async def test_answer_counts_at_the_callback_of_its_own_provider_alone(
    app: ClientApp, config: dict[str, Any], fake: FakeProvider
) -> None:
    entry = config["identity_providers"][0] | {"own_callback": True}
    config["identity_providers"] = [entry, entry | {"name": "other"}]
    app.service.reload(config)
    answer = fake.answer(await app.authorize(acr_values="idp:upstream"))
    assert "/connect/idp/upstream/callback?" in answer
    for wrong in ("/connect/idp/other/callback?", "/account/provider/callback?"):
        refused = await app.browser.get(answer.replace("/connect/idp/upstream/callback?", wrong))
        assert (refused.status, fake.forms) == (400, [])
    assert arrived(await app.browser.get(answer))


ALLOWED = {
    "a group": ({"groups": ["staff", "guests"]}, True),
    "one that is no list": ({"groups": "staff"}, True),
    "another group": ({"groups": ["guests"]}, False),
    "one of two claims": ({"hd": "partner.example"}, False),
    "two claims": ({"hd": "partner.example", "email_verified": True}, True),
    "a number for a truth": ({"hd": "partner.example", "email_verified": 1}, False),
    "none": ({}, False),
}


@pytest.mark.parametrize(("claims", "allowed"), ALLOWED.values(), ids=ALLOWED)
@pytest.mark.parametrize("source", ["claims", "userinfo"])
async def test_users_sign_in_who_meet_a_condition(  # noqa: PLR0917 - fixtures
    come_back: ComeBack,
    app: ClientApp,
    config: dict[str, Any],
    fake: FakeProvider,
    claims: dict[str, Any],
    allowed: bool,
    source: str,
) -> None:
    conditions = [{"groups": ["staff"]}, {"hd": ["partner.example"], "email_verified": [True]}]
    change(app, config, allowed_claims=conditions)
    setattr(fake, source, claims)
    page = await come_back()
    assert arrived(page) is allowed
    if not allowed:
        assert page.text_of("login-error").startswith("Your account at Upstream is not allowed")


async def test_userinfo_cannot_override_what_the_id_token_says(
    come_back: ComeBack, app: ClientApp, config: dict[str, Any], fake: FakeProvider
) -> None:
    change(app, config, allowed_claims=[{"groups": ["staff"]}])
    fake.claims, fake.userinfo = {"groups": ["guests"]}, {"groups": ["staff"]}
    assert (await come_back()).has("login-error")
