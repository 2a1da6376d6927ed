"""Tokens are bound to the certificate that the client shows (RFC 8705 §3, §4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.authority import DAY, Certified, self_signed
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, claims_in

pytestmark = pytest.mark.rfc("8705#3")

BOUND = {"tls_client_certificate_bound_access_tokens": True}
OFFLINE = "openid api1 offline_access"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    for client_id in ("shop", "web", "spa", "robot", "frontend", "implicit"):
        client_in(config, client_id).update(BOUND)
    return config


@pytest.fixture
def own() -> Certified:
    """A certificate of the client's own making."""
    return self_signed("CN=app")


async def machine_token(service: RunningService, client: str, shown: Certified | None) -> Answer:
    form = {"grant_type": "client_credentials", "scope": "api1"}
    return await service.token(client, headers=shown.headers() if shown else None, **form)


async def userinfo(service: RunningService, token: str, shown: Certified | None) -> Answer:
    headers = {"Authorization": f"Bearer {token}"} | (shown.headers() if shown else {})
    return await service.get("/connect/userinfo", headers=headers)


async def test_a_token_names_the_certificate_and_introspection_shows_it(
    service: RunningService, shop: Certified
) -> None:
    form = {"grant_type": "client_credentials", "scope": "api1", "client_id": "shop"}
    answer = await service.post("/connect/token", headers=shop.headers(), **form)
    assert answer["token_type"] == "Bearer"
    assert claims_in(answer["access_token"])["cnf"] == {"x5t#S256": shop.thumbprint}
    introspected = await service.introspect(answer["access_token"])
    assert introspected["cnf"] == {"x5t#S256": shop.thumbprint}
    assert introspected["token_type"] == "Bearer"


async def test_a_reference_token_is_bound_and_the_method_may_be_any(
    service: RunningService, own: Certified
) -> None:
    answer = await machine_token(service, "robot", own)
    introspected = await service.introspect(answer["access_token"])
    assert introspected["cnf"] == {"x5t#S256": own.thumbprint}


async def test_a_token_of_another_client_is_not_bound(
    service: RunningService, own: Certified
) -> None:
    answer = await machine_token(service, "machine", own)
    assert "cnf" not in claims_in(answer["access_token"])


async def test_userinfo_needs_the_certificate_until_it_expires(
    service: RunningService, clock: Clock
) -> None:
    own = self_signed(until=DAY / 48)
    token = (await service.user_token(scope="openid", headers=own.headers()))["access_token"]
    assert (await userinfo(service, token, own)).status == 200
    for shown in (None, self_signed(key=own.key)):
        answer = await userinfo(service, token, shown)
        assert answer.refusal == (401, "invalid_token")
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    clock.forward(minutes=31)
    assert (await userinfo(service, token, own)).refusal == (401, "invalid_token")


@pytest.mark.rfc("8705#4")
async def test_a_refresh_token_of_a_public_client_is_bound_to_its_certificate(
    app_of: Callable[[str], ClientApp], own: Certified
) -> None:
    spa = app_of("spa")
    tokens = await spa.redeem(await spa.code(scope=OFFLINE), headers=own.headers())
    refresh_token = tokens["refresh_token"]
    following = await spa.refresh(refresh_token, headers=own.headers())
    assert claims_in(following["access_token"])["cnf"] == {"x5t#S256": own.thumbprint}
    last = await spa.refresh(following["refresh_token"], headers=own.headers())
    assert last.status == 200


@pytest.mark.rfc("8705#4", "9700#4.14.2")
async def test_a_used_refresh_token_with_another_certificate_does_not_end_its_family(
    app_of: Callable[[str], ClientApp], own: Certified
) -> None:
    spa = app_of("spa")
    used = await spa.redeem(await spa.code(scope=OFFLINE), headers=own.headers())
    following = await spa.refresh(used["refresh_token"], headers=own.headers())
    refused = await spa.refresh(used["refresh_token"], headers=self_signed().headers())
    assert refused.refusal == (400, "invalid_grant")
    last = await spa.refresh(following["refresh_token"], headers=own.headers())
    assert last.status == 200


@pytest.mark.rfc("8705#6.3")
async def test_a_confidential_client_may_refresh_with_another_certificate(
    app: ClientApp, own: Certified
) -> None:
    tokens = await app.redeem(await app.code(scope=OFFLINE), headers=own.headers())
    renewed = self_signed("CN=renewed")
    answer = await app.refresh(tokens["refresh_token"], headers=renewed.headers())
    assert claims_in(answer["access_token"])["cnf"] == {"x5t#S256": renewed.thumbprint}


async def test_of_many_certificates_at_once_one_gets_the_tokens_of_a_code(
    app_of: Callable[[str], ClientApp],
) -> None:
    spa = app_of("spa")
    code, shown = await spa.code(scope=OFFLINE), [self_signed() for _ in range(10)]
    answers = await asyncio.gather(*(spa.redeem(code, headers=each.headers()) for each in shown))
    won = [each for each in answers if each.status == 200]
    assert len(won) == 1
    assert {each.refusal for each in answers if each not in won} == {(400, "invalid_grant")}


async def test_of_many_refreshes_at_once_only_the_right_certificate_counts(
    app_of: Callable[[str], ClientApp], own: Certified
) -> None:
    spa = app_of("spa")
    tokens = await spa.redeem(await spa.code(scope=OFFLINE), headers=own.headers())
    thieves = [self_signed() for _ in range(9)]
    answers = await asyncio.gather(
        *(spa.refresh(tokens["refresh_token"], headers=each.headers()) for each in [*thieves, own])
    )
    assert [each.status for each in answers] == [400] * 9 + [200]
    last = await spa.refresh(answers[-1]["refresh_token"], headers=own.headers())
    assert last.status == 200


async def push(service: RunningService, app: ClientApp, shown: Certified, **changes: str) -> str:
    """The request_uri of a request that came with this certificate."""
    auth = "web" if app.client_id == "web" else None
    form = app.parameters(**changes)
    answer = await service.post("/connect/par", auth=auth, headers=shown.headers(), **form)
    return str(answer["request_uri"])


@pytest.mark.rfc("8705#4")
async def test_a_code_of_a_public_client_is_bound_to_the_certificate_of_the_push(
    service: RunningService, app_of: Callable[[str], ClientApp], own: Certified
) -> None:
    spa, another = app_of("spa"), self_signed("CN=app")
    forged = {"x5t#S256": another.thumbprint}
    uri = await push(service, spa, own, **forged)
    page = await spa.browser.get(
        f"{service.issuer}/connect/authorize?client_id=spa&request_uri={uri}"
    )
    code = (await spa.browser.log_in(page, "alice")).parameters["code"]
    refused = await spa.redeem(code, headers=another.headers())
    assert refused.refusal == (400, "invalid_grant")
    assert (await spa.redeem(code, headers=own.headers())).status == 200


@pytest.mark.rfc("8705#6.3")
async def test_a_code_of_a_confidential_client_is_not_bound_to_the_certificate_of_the_push(
    service: RunningService, app: ClientApp, own: Certified
) -> None:
    uri = await push(service, app, own)
    page = await app.browser.get(
        f"{service.issuer}/connect/authorize?client_id=web&request_uri={uri}"
    )
    code = (await app.browser.log_in(page, "alice")).parameters["code"]
    assert (await app.redeem(code, headers=self_signed().headers())).status == 200


async def test_a_browser_cannot_bind_a_code_to_a_certificate(
    app: ClientApp, own: Certified
) -> None:
    code = await app.code(**{"x5t#S256": self_signed().thumbprint})
    assert (await app.redeem(code, headers=own.headers())).status == 200


async def test_no_token_goes_through_the_browser(app_of: Callable[[str], ClientApp]) -> None:
    page = await app_of("implicit").authorize(response_type="id_token token")
    assert page.parameters["error"] == "unauthorized_client"
