"""Identity providers know the redirect URI of the server before, and need not be told of another."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.identity_providers.fake_provider import FakeProvider


@pytest.fixture
def server(request: pytest.FixtureRequest) -> str:
    """The server before."""
    return str(request.param)


@pytest.fixture
def config(faked_config: dict[str, Any], server: str) -> dict[str, Any]:
    """It has replaced this server."""
    faked_config["issuer"] = "http://localhost:0/realms/shop"
    faked_config["path_aliases"] = [server]
    return faked_config


async def signs_in_at(app: ClientApp, fake: FakeProvider, callback: str) -> None:
    """Sign in at the provider, which sends the browser to this path."""
    sent = await app.authorize(acr_values="idp:upstream")
    assert sent.parameters["redirect_uri"] == app.service.issuer + callback
    page = await app.browser.get(fake.answer(sent))
    assert "code" in page.parameters
    assert fake.forms[-1]["redirect_uri"] == app.service.issuer + callback


@pytest.mark.parametrize("server", ["keycloak"], indirect=True)
async def test_a_provider_of_keycloak_sends_users_to_its_own_broker_endpoint(
    app: ClientApp, fake: FakeProvider
) -> None:
    await signs_in_at(app, fake, "/broker/upstream/endpoint")


@pytest.mark.parametrize("server", ["dex"], indirect=True)
async def test_a_connector_of_dex_sends_users_to_the_callback_of_all(
    app: ClientApp, fake: FakeProvider
) -> None:
    await signs_in_at(app, fake, "/callback")


@pytest.mark.parametrize("server", ["hydra"], indirect=True)
async def test_hydra_has_no_callback(app: ClientApp, fake: FakeProvider) -> None:
    await signs_in_at(app, fake, "/account/provider/callback")


@pytest.mark.rfc("9700#4.4.2.2")
@pytest.mark.parametrize("server", ["keycloak"], indirect=True)
async def test_an_answer_at_the_broker_endpoint_of_another_provider_is_refused(
    app: ClientApp, fake: FakeProvider, service: RunningService
) -> None:
    sent = await app.authorize(acr_values="idp:upstream")
    answer = fake.answer(sent)
    for elsewhere in ("/broker/other/endpoint", "/account/provider/callback"):
        page = await app.browser.get(answer.replace("/broker/upstream/endpoint", elsewhere))
        assert (page.status, page.error) == (400, "invalid_request")
    assert "code" in (await app.browser.get(answer)).parameters
    assert service.issuer.endswith("/realms/shop")
