"""Clients prove themselves, register and go; each replica knows it at once (RFC 7523 §3, RFC 7591, RFC 7592)."""

from __future__ import annotations

import pytest

from tests.clients.signing import Signer
from tests.driving.browser import Browser
from tests.driving.registering import RegisteredApp
from tests.driving.service import RunningService


@pytest.mark.parametrize(
    ("client", "alg"), [("signing", "HS256"), ("signing-key", "ES256")], ids=["secret", "key"]
)
async def test_an_assertion_is_spent_everywhere(
    service: RunningService, client: str, alg: str
) -> None:
    signer = Signer(service, client, alg)
    assertion = await signer.assertion()
    assert (await signer.ask(assertion)).status == 200
    for _ in range(3):
        assert (await signer.ask(assertion)).refusal == (401, "invalid_client")


async def test_a_client_registers_changes_itself_and_is_used(
    service: RunningService, browser: Browser
) -> None:
    app = await RegisteredApp.register(service, browser, client_name="Mine", scope="openid api1")
    assert (await app.manage("GET"))["client_name"] == "Mine"
    changed = await app.change(client_name="Still mine", scope="openid api1")
    app.registered |= changed.json
    assert (await app.manage("GET"))["client_name"] == "Still mine"
    tokens = await app.tokens()
    assert await service.is_active(tokens["access_token"])


async def test_a_client_that_is_deleted_is_unknown_everywhere(
    service: RunningService, browser: Browser
) -> None:
    app = await RegisteredApp.register(
        service, browser, grant_types=["client_credentials"], redirect_uris=None, scope="api1"
    )
    ask = {"grant_type": "client_credentials", "scope": "api1"}
    pair = app.client_id, app.registered["client_secret"]
    token = await service.token(pair, **ask)
    assert (await app.manage("DELETE")).status == 204
    for _ in range(3):
        assert (await service.token(pair, **ask)).refusal == (401, "invalid_client")
        assert not await service.is_active(token["access_token"])
