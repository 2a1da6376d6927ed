"""Scope and resources at the authorize endpoint (RFC 6749 §3.3, RFC 8707 §2.1, OIDC Core §11)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.service import claims_in


@pytest.mark.rfc("6749#3.3", "6749#4.1.2.1")
@pytest.mark.parametrize(
    "scope",
    [
        None,
        "",
        " ",
        "unknown",
        "openid unknown",
        "OPENID",
        "openid\tapi1",
        'openid "api1"',
        "openid address",
        "offline_access",
    ],
)
async def test_a_wrong_scope_is_refused(app: ClientApp, scope: str | None) -> None:
    assert (await app.authorize(scope=scope)).error == "invalid_scope"


@pytest.mark.rfc("openid-core#11")
async def test_offline_access_is_for_clients_that_may_have_it(
    app_of: Callable[[str], ClientApp],
) -> None:
    page = await app_of("native").authorize(scope="openid offline_access")
    assert page.error == "invalid_scope"


@pytest.mark.rfc("6749#3.3")
async def test_order_and_repetition_of_scope_values_mean_nothing(app: ClientApp) -> None:
    tokens = await app.tokens(scope="api1  openid api1 ")
    assert tokens["scope"] == "api1 openid"


@pytest.mark.rfc("6749#4.1.1")
async def test_without_openid_no_id_token_is_issued(app: ClientApp) -> None:
    tokens = await app.tokens(scope="api1", nonce=None)
    assert "id_token" not in tokens.json
    assert claims_in(tokens["access_token"])["scope"] == "api1"


@pytest.mark.rfc("8707#2.1")
async def test_the_resources_of_a_request_become_the_audience(app: ClientApp) -> None:
    first = "&resource=api1&resource=api2"
    page = await app.browser.get(app.url(scope="openid api1 api2") + first)
    code = (await app.browser.log_in(page)).parameters["code"]
    tokens = await app.redeem(code)
    assert claims_in(tokens["access_token"])["aud"] == ["api1", "api2"]


@pytest.mark.rfc("8707#2")
@pytest.mark.parametrize("resource", ["api9", "API1", "https://api.example", "api2"])
async def test_a_resource_that_is_unknown_or_understands_nothing_is_refused(
    app: ClientApp, resource: str
) -> None:
    page = await app.authorize(scope="openid api1", resource=resource)
    assert page.error == "invalid_target"
