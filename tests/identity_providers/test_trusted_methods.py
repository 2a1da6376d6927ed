"""The amr and acr of a provider count only where the operator trusts them (`trust_acr`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.service import claims_in
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import ComeBack, arrived
from tests.sessions import second_factor

pytestmark = pytest.mark.rfc("openid-core#2", "8176#1")

INSISTING = json.dumps({"id_token": {"acr": {"essential": True, "value": "strong"}}})


@pytest.fixture
def config(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    faked_config: dict[str, Any],
) -> dict[str, Any]:
    if "with_otp" in request.fixturenames:
        step = second_factor.FOR_EVERYBODY
        faked_config["ui"] |= second_factor.install(monkeypatch, step, tmp_path / "templates")
    faked_config["authentication_contexts"] = [
        {"acr": "password", "amr": ["pwd"]},
        {"acr": "strong", "amr": ["pwd", "otp"]},
    ]
    return faked_config


@pytest.fixture
def with_otp() -> None:
    """Let every sign-in need a second factor."""


@pytest.fixture
def trusted(config: dict[str, Any]) -> dict[str, Any]:
    """The registry in which the provider is trusted."""
    (provider,) = config["identity_providers"]
    return config | {"identity_providers": [provider | {"trust_acr": True}]}


async def authentication(app: ClientApp, code: str) -> list[tuple[Any, Any]]:
    """The amr and acr of both tokens."""
    tokens = await app.redeem(code)
    claims = [claims_in(tokens[name]) for name in ("id_token", "access_token")]
    return [(each.get("amr"), each.get("acr")) for each in claims]


async def test_an_untrusted_provider_meets_no_context(
    fake: FakeProvider, app: ClientApp, come_back: ComeBack
) -> None:
    fake.claims = {"amr": ["pwd", "otp"], "acr": "strong"}
    code = (await come_back()).parameters["code"]
    assert await authentication(app, code) == [(["external"], None)] * 2


async def test_an_untrusted_provider_does_not_meet_an_essential_acr(
    fake: FakeProvider, come_back: ComeBack
) -> None:
    fake.claims = {"amr": ["pwd", "otp"], "acr": "strong"}
    page = await come_back(claims=INSISTING)
    assert page.error == "unmet_authentication_requirements"


@pytest.mark.parametrize(
    ("claims", "met"),
    [
        ({"amr": ["pwd", "otp"]}, (["pwd", "otp"], "strong")),
        ({"amr": ["pwd"]}, (["pwd"], "password")),
        ({"acr": "strong"}, (["external"], "strong")),
        ({"acr": "strong", "amr": ["pwd"]}, (["pwd"], "strong")),
        ({"acr": "unheard of", "amr": ["pwd"]}, (["pwd"], "password")),
        ({"acr": ["strong"]}, (["external"], None)),
        ({}, (["external"], None)),
    ],
)
async def test_a_trusted_provider_meets_contexts_by_its_amr_and_acr(  # noqa: PLR0917 - fixtures
    fake: FakeProvider,
    app: ClientApp,
    come_back: ComeBack,
    trusted: dict[str, Any],
    claims: dict[str, Any],
    met: tuple[list[str], str | None],
) -> None:
    app.service.reload(trusted)
    fake.claims = claims
    code = (await come_back()).parameters["code"]
    assert await authentication(app, code) == [met] * 2


async def test_a_trusted_provider_meets_an_essential_acr(
    fake: FakeProvider, app: ClientApp, come_back: ComeBack, trusted: dict[str, Any]
) -> None:
    app.service.reload(trusted)
    fake.claims = {"acr": "strong"}
    assert arrived(await come_back(claims=INSISTING))


async def test_trust_that_is_withdrawn_counts_for_sessions_that_began_before(
    fake: FakeProvider,
    app: ClientApp,
    come_back: ComeBack,
    config: dict[str, Any],
    trusted: dict[str, Any],
) -> None:
    app.service.reload(trusted)
    fake.claims = {"amr": ["pwd", "otp"]}
    await come_back()
    app.service.reload(config)
    code = (await app.authorize()).parameters["code"]
    assert await authentication(app, code) == [(["external"], None)] * 2


async def test_a_local_sign_in_meets_contexts_as_before(app: ClientApp) -> None:
    assert await authentication(app, await app.code()) == [(["pwd"], "password")] * 2


async def test_acr_that_a_user_of_the_provider_lacks_leads_to_the_provider_again(
    fake: FakeProvider, app: ClientApp, come_back: ComeBack, trusted: dict[str, Any]
) -> None:
    app.service.reload(trusted)
    fake.claims = {"acr": "password"}
    await come_back()
    fake.claims = {"acr": "strong"}
    sent = await app.authorize(claims=INSISTING)
    assert sent.url.startswith(fake.issuer)
    assert arrived(await app.browser.get(fake.answer(sent)))


async def test_required_acr_that_a_user_of_the_provider_lacks_leads_to_the_provider_again(
    fake: FakeProvider, app: ClientApp, come_back: ComeBack, trusted: dict[str, Any]
) -> None:
    app.service.reload(trusted)
    fake.claims = {"acr": "password"}
    await come_back()
    clients = [each | {"required_acr": "strong"} for each in trusted["clients"]]
    app.service.reload(trusted | {"clients": clients})
    fake.claims = {"acr": "strong"}
    sent = await app.authorize()
    assert sent.url.startswith(fake.issuer)
    assert arrived(await app.browser.get(fake.answer(sent)))


async def test_provider_that_does_not_meet_the_acr_again_is_asked_once(
    fake: FakeProvider, app: ClientApp, come_back: ComeBack, trusted: dict[str, Any]
) -> None:
    app.service.reload(trusted)
    fake.claims = {"acr": "password"}
    await come_back()
    page = await app.browser.get(fake.answer(await app.authorize(claims=INSISTING)))
    assert page.error == "unmet_authentication_requirements"


async def test_acr_that_a_user_of_this_service_lacks_leads_to_no_provider(
    fake: FakeProvider, app: ClientApp, trusted: dict[str, Any]
) -> None:
    app.service.reload(trusted)
    fake.claims = {"acr": "strong"}
    await app.login()
    page = await app.authorize(claims=INSISTING)
    assert page.path == "/account/login"
    sent = await app.browser.get(page.provider_links["upstream"])
    assert arrived(await app.browser.get(fake.answer(sent)))


async def test_user_of_this_service_without_the_factor_is_refused_the_acr(
    app: ClientApp, trusted: dict[str, Any]
) -> None:
    app.service.reload(trusted)
    await app.login()
    page = await app.browser.log_in(await app.authorize(claims=INSISTING))
    assert page.error == "unmet_authentication_requirements"


async def test_acr_that_only_the_password_can_meet_leads_to_the_login_page(
    app: ClientApp, come_back: ComeBack
) -> None:
    await come_back()
    asked = {"id_token": {"acr": {"essential": True, "value": "password"}}}
    page = await app.authorize(claims=json.dumps(asked))
    assert page.path == "/account/login"
    assert arrived(await app.browser.log_in(page))


@pytest.mark.usefixtures("with_otp")
async def test_second_factor_after_an_untrusted_provider_counts(
    fake: FakeProvider, app: ClientApp, come_back: ComeBack
) -> None:
    fake.claims = {"amr": ["pwd", "otp"], "acr": "strong"}
    half = await come_back()
    assert half.path == second_factor.PATH
    page = await app.browser.submit(half, otp=second_factor.CODE)
    assert await authentication(app, page.parameters["code"]) == [(["external", "otp"], None)] * 2
