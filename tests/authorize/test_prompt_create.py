"""prompt=create leads to the operator's page for new accounts (Initiating User Registration via OpenID Connect 1.0 §4)."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.conftest import Start
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("openid-prompt-create#4", "openid-core#3.1.2.1")

REGISTER = "https://people.example/new?from=oauth"
DISCOVERY = "/.well-known/openid-configuration"


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    configuration["ui"]["links"] = {"register": REGISTER}
    configuration["tenants"] = [
        {"name": "acme", "links": {"register": "https://acme.example/new"}},
        {"name": "other"},
    ]
    return configuration


async def place_of(app: ClientApp, **parameters: str) -> dict[str, str]:
    """The query of the page for new accounts that the browser is sent to."""
    page = await app.authorize(prompt="create", **parameters)
    assert page.url.startswith(REGISTER)
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


async def test_user_creates_an_account_and_comes_back_to_sign_in(
    app: ClientApp, service: RunningService
) -> None:
    place = await place_of(app)
    assert place["from"] == "oauth"
    assert place["return_to"].startswith(f"{service.issuer}/account/login?request=")
    page = await app.browser.log_in(await app.browser.get(place["return_to"]))
    assert page.parameters["code"]


async def test_user_with_a_session_is_led_to_a_new_account(app: ClientApp) -> None:
    await app.login()
    page = await app.browser.get((await place_of(app))["return_to"])
    assert page.has("password")


async def test_tenant_has_a_page_of_its_own(app: ClientApp) -> None:
    page = await app.authorize(prompt="create", acr_values="tenant:acme")
    assert page.url.startswith("https://acme.example/new?return_to=")
    await place_of(app, acr_values="tenant:other")


async def test_discovery_names_create_where_there_is_a_page(
    service: RunningService, start: Start
) -> None:
    prompts = ["none", "login", "consent", "select_account"]
    assert (await service.get(DISCOVERY))["prompt_values_supported"] == [*prompts, "create"]
    plain = await start(fresh_configuration())
    assert (await plain.get(DISCOVERY))["prompt_values_supported"] == prompts


class TestWithoutAPage:
    """Without such a page create is ignored, as every unknown value is."""

    @pytest.fixture
    def config(self) -> dict[str, Any]:
        return fresh_configuration()

    @pytest.mark.parametrize("prompt", ["create", "wish", "Login", "create wish"])
    async def test_unknown_prompts_are_ignored(self, app: ClientApp, prompt: str) -> None:
        await app.login()
        assert "code" in (await app.authorize(prompt=prompt)).parameters

    async def test_known_prompts_are_honored_with_unknown_ones(self, app: ClientApp) -> None:
        await app.login()
        assert (await app.authorize(prompt="wish login")).path == "/account/login"

    async def test_page_for_new_accounts_leads_to_the_login_page(self, app: ClientApp) -> None:
        page = await app.authorize()
        elsewhere = await app.browser.get(page.url.replace("/account/login", "/account/create"))
        assert (elsewhere.path, elsewhere.has("password")) == ("/account/login", True)
