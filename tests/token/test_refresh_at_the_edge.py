"""Where a second, or an answer that got lost, decides about a refresh token (RFC 9700 §4.14.2)."""

from __future__ import annotations

from time import time
from typing import Any

import msgspec
import pytest

from service.model.handle import Handle, parse_handle
from service.model.one_time import RefreshToken
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("9700#4.14.2")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A client that may repeat."""
    client_in(config, "frontend")["refresh_token_reuse_interval"] = "30s"
    return config


async def first_token(service: RunningService) -> str:
    """The first refresh token of a family."""
    return str((await service.user_token(scope="api1 offline_access"))["refresh_token"])


async def refreshed(service: RunningService, token: str) -> Answer:
    """Use it."""
    return await service.token("frontend", grant_type="refresh_token", refresh_token=token)


def parsed(token: str) -> Handle:
    """Where its record is."""
    handle = parse_handle(token, "refresh_token")
    assert handle is not None
    return handle


async def test_a_repeat_writes_the_successor_that_redis_lost(service: RunningService) -> None:
    token = await first_token(service)
    successor = (await refreshed(service, token))["refresh_token"]
    stores, lost = service.parts.stores, parsed(successor)
    await stores.kv.write(stores.refresh_tokens.live.drop(lost.selector, lost.digest))
    assert (await refreshed(service, token))["refresh_token"] == successor
    assert (await refreshed(service, successor)).status == 200


async def test_a_record_that_outlives_its_end_is_worth_nothing(service: RunningService) -> None:
    token = await first_token(service)
    records, handle = service.parts.stores.refresh_tokens, parsed(token)
    (record,) = await service.parts.kv.read(records.read(handle.selector, handle.digest))
    assert isinstance(record, RefreshToken)
    over = records.put(
        msgspec.structs.replace(record, ends_at=int(time())), handle.selector, handle.digest, ttl=60
    )
    await service.parts.kv.write(over)
    assert (await refreshed(service, token)).refusal == (400, "invalid_grant")
