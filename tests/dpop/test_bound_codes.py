"""Codes are bound by `dpop_jkt`, and refresh tokens of public clients by the proof (RFC 9449 §5, §10)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("9449#5", "9449#10")

OFFLINE = "openid api1 offline_access"


async def test_a_bound_code_needs_its_key_and_is_not_spent_by_another(
    service: RunningService, app: ClientApp, key: DpopKey
) -> None:
    code = await app.code(dpop_jkt=key.thumbprint)
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")
    another = DpopKey(service.issuer)
    refused = await app.redeem(code, headers=another.header())
    assert refused.refusal == (400, "invalid_grant")
    answer = await app.redeem(code, headers=key.header())
    assert answer["token_type"] == "DPoP"


@pytest.mark.parametrize("thumbprint", ["short", "x" * 44, "=" * 43])
async def test_a_dpop_jkt_that_is_no_thumbprint_is_refused(app: ClientApp, thumbprint: str) -> None:
    page = await app.authorize(dpop_jkt=thumbprint)
    assert page.parameters["error"] == "invalid_request"


async def test_a_refresh_token_of_a_public_client_is_bound_to_its_key(
    service: RunningService, app_of: Callable[[str], ClientApp], key: DpopKey
) -> None:
    spa, another = app_of("spa"), DpopKey(service.issuer)
    tokens = await spa.redeem(await spa.code(scope=OFFLINE), headers=key.header())
    refresh_token = tokens["refresh_token"]
    assert (await spa.refresh(refresh_token)).refusal == (400, "invalid_grant")
    refused = await spa.refresh(refresh_token, headers=another.header())
    assert refused.refusal == (400, "invalid_grant")
    following = await spa.refresh(refresh_token, headers=key.header())
    assert following["token_type"] == "DPoP"
    last = await spa.refresh(following["refresh_token"], headers=key.header())
    assert last["token_type"] == "DPoP"


async def test_a_confidential_client_may_refresh_with_another_key(
    service: RunningService, app: ClientApp, key: DpopKey
) -> None:
    tokens = await app.redeem(await app.code(scope=OFFLINE), headers=key.header())
    another = DpopKey(service.issuer)
    answer = await app.refresh(tokens["refresh_token"], headers=another.header())
    introspected = await service.introspect(answer["access_token"])
    assert introspected["cnf"] == {"jkt": another.thumbprint}
