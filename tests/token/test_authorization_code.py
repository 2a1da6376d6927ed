"""The code, once and only for its client (RFC 6749 §4.1, RFC 7636, RFC 9700 §2.1.1)."""

from __future__ import annotations

import pytest

from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService


@pytest.mark.rfc("6749#4.1.2")
async def test_a_code_works_once(app: ClientApp, service: RunningService) -> None:
    code = await app.code()
    tokens = await app.redeem(code)
    assert tokens.status == 200
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")
    assert not await service.is_active(tokens["access_token"])


@pytest.mark.rfc("6749#4.1.2")
async def test_a_code_expires_by_itself(app: ClientApp, clock: Clock) -> None:
    code = await app.code()
    clock.forward(seconds=61)
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")
