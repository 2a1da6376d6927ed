"""A remembered consent is not asked again as long as it lasts and suffices (OIDC Core §3.1.2.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.conftest import Clock
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration

pytestmark = pytest.mark.rfc("openid-core#3.1.2.4")


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration() | {
        "session": {"lifetime": "800d", "max_lifetime": "900d"}
    }
    consenting = client_in(configuration, "consenting")
    changed: dict[str, dict[str, Any]] = {
        "lasting": {"consent_lifetime": "10d"},
        "forgetful": {"allow_remember_consent": False},
    }
    for client_id, changes in changed.items():
        configuration["clients"].append(consenting | {"client_id": client_id} | changes)
    return configuration


@pytest.fixture
def client(app_of: Callable[[str], ClientApp]) -> ClientApp:
    return app_of("consenting")


async def allow(client: ClientApp, **changes: Any) -> Page:
    """Log in where needed, and allow what is asked for."""
    fields = {"remember": changes.pop("remember")} if "remember" in changes else {}
    page = await client.login(**changes)
    return await client.browser.submit(page, action="allow", **fields)


async def is_asked(client: ClientApp, **changes: str) -> bool:
    """Whether the consent page is shown."""
    return (await client.authorize(**changes)).has("consent-allow")


async def test_a_remembered_consent_is_not_asked_again(client: ClientApp) -> None:
    await allow(client)
    assert not await is_asked(client)
    assert "code" in (await client.authorize(prompt="none")).parameters


async def test_a_remembered_consent_holds_in_another_browser(client: ClientApp) -> None:
    await allow(client)
    client.browser.forget_cookies()
    assert "code" in (await client.login()).parameters


async def test_a_smaller_scope_is_not_asked_again(client: ClientApp) -> None:
    await allow(client, scope="openid email api1")
    assert not await is_asked(client, scope="openid api1")


async def test_a_larger_scope_is_asked_again(client: ClientApp) -> None:
    await allow(client, scope="openid email")
    assert await is_asked(client, scope="openid email api1")
    assert (await client.authorize(scope="openid api1", prompt="none")).error == "consent_required"


async def test_a_second_consent_adds_to_the_first(client: ClientApp) -> None:
    await allow(client, scope="openid email")
    await allow(client, scope="openid api1")
    assert not await is_asked(client, scope="openid email api1")


async def test_an_unticked_scope_is_asked_again(client: ClientApp) -> None:
    page = await client.login(scope="openid email")
    await client.browser.submit(page, action="allow", scope=[])
    assert await is_asked(client, scope="openid email")
    assert not await is_asked(client, scope="openid")


async def test_a_consent_is_remembered_only_if_the_user_wants_it(client: ClientApp) -> None:
    await allow(client, remember=None)
    assert await is_asked(client)


async def test_a_consent_is_remembered_only_if_the_client_may(
    app_of: Callable[[str], ClientApp],
) -> None:
    client = app_of("consenting")
    page = await client.login(client_id="forgetful")
    assert not page.has("remember")
    await client.browser.submit(page, action="allow", remember="true")
    assert await is_asked(client, client_id="forgetful")


async def test_prompt_consent_asks_always(client: ClientApp) -> None:
    await allow(client)
    assert await is_asked(client, prompt="consent")


async def test_a_denial_does_not_revoke_an_earlier_consent(client: ClientApp) -> None:
    await allow(client)
    await client.browser.submit(await client.authorize(prompt="consent"), action="deny")
    assert not await is_asked(client)


async def test_a_remembered_consent_is_one_users_for_one_client(
    client: ClientApp, app_of: Callable[[str], ClientApp]
) -> None:
    await allow(client)
    assert await is_asked(app_of("consenting"), client_id="lasting")
    client.browser.forget_cookies()
    assert (await client.login("bob")).has("consent-allow")


async def test_a_remembered_consent_lasts_for_the_clients_lifetime(
    client: ClientApp, clock: Clock
) -> None:
    await allow(client, client_id="lasting")
    clock.forward(days=9)
    assert not await is_asked(client, client_id="lasting")
    clock.forward(days=2)
    assert await is_asked(client, client_id="lasting")


async def test_a_remembered_consent_lasts_a_year_from_its_last_use(
    client: ClientApp, clock: Clock
) -> None:
    await allow(client)
    clock.forward(days=360)
    assert not await is_asked(client)
    clock.forward(days=360)
    assert not await is_asked(client)
    clock.forward(days=366)
    assert (await client.login()).has("consent-allow")


async def test_a_remembered_consent_counts_only_while_the_client_may_remember(
    client: ClientApp,
) -> None:
    await allow(client)
    features = client.service.features
    configuration = yaml.safe_load(features.shared.configuration.file.read_text())
    client_in(configuration, "consenting")["allow_remember_consent"] = False
    features.shared.configuration.file.write_text(yaml.safe_dump(configuration))
    assert features.shared.registry.reload()
    assert await is_asked(client)
