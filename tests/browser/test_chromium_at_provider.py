"""A real browser goes to another provider and comes back: cookies and form-action let it through (CSP3 §6.4.2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import CLIENT_ID, Application, Person
from tests.conftest import Start
from tests.driving.chromium import CHROMIUM
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService
from tests.identity_providers.conftest import Upstream
from tests.identity_providers.journey import provider_entry

pytestmark = [pytest.mark.needs(CHROMIUM), pytest.mark.rfc("openid-core#3.1")]


@pytest.fixture
async def upstream(start: Start) -> Upstream:
    """A second instance, whose cookies have another name: to a browser it is the same host."""
    configuration = fresh_configuration() | {
        "store": {"key_prefix": "upstream"},
        "session": {"cookie_name": "upstream"},
    }
    return Upstream(await start(configuration), configuration)


@pytest.fixture
def config(application: Application, upstream: Upstream) -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, CLIENT_ID).update(
        redirect_uris=[application.redirect_uri], require_pkce=False
    )
    configuration["identity_providers"] = [provider_entry(upstream.issuer)]
    return configuration


@pytest.fixture(autouse=True)
def _registered(upstream: Upstream, service: RunningService) -> None:
    upstream.register(service)


async def test_a_person_signs_in_elsewhere_and_consents_here(
    person: Person, upstream: Upstream
) -> None:
    await person.asks()
    await person.page.click("a[data-idp=upstream]")
    assert person.page.url.startswith(upstream.issuer)
    await person.logs_in()
    assert "Alice Smith" in await person.sees("body")
    await person.page.click("#consent-allow")
    assert await person.sees("#granted") == "api1 openid profile"


async def test_a_person_who_cancels_there_signs_in_here(person: Person) -> None:
    await person.asks(acr_values="idp:upstream")
    await person.page.click("#cancel")
    assert (await person.sees("#login-error")).startswith("Upstream did not sign you in")
    await person.logs_in()
    assert await person.sees("#consent-allow")


@pytest.mark.rfc("openid-core#3.1.2.1")
async def test_a_person_is_sent_to_the_provider_of_the_address(
    person: Person, upstream: Upstream, service: RunningService, config: dict[str, Any]
) -> None:
    config["identity_providers"] = [provider_entry(upstream.issuer, domains=["example.com"])]
    service.reload(config)
    await person.asks()
    assert not await person.page.locator("#password").count()
    await person.page.fill("#username", "alice@example.com")
    await person.page.keyboard.press("Enter")
    await person.page.wait_for_url(f"{upstream.issuer}/**")
    assert await person.page.input_value("#username") == "alice@example.com"
    await person.page.fill("#username", "alice")
    await person.logs_in()
    assert await person.sees("#consent-allow")
