"""Refresh tokens at the last second of their life, and after a lost answer (RFC 9700 §4.14.2)."""

from __future__ import annotations

from time import time
from typing import Any

import msgspec
import pytest

from service.events.tokens import RefreshTokenReused
from service.model.authorization import RefreshToken
from service.model.handle import Handle, new_handle, parse_handle
from service.tokens.refresh_token import ActiveRefreshToken, use_up
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


async def refresh(service: RunningService, token: str) -> Answer:
    """Use it."""
    return await service.token("frontend", grant_type="refresh_token", refresh_token=token)


def parse(token: str) -> Handle:
    """Read the handle of a refresh token."""
    handle = parse_handle(token, "refresh_token")
    assert handle is not None
    return handle


async def test_a_repeat_writes_the_successor_that_redis_lost(service: RunningService) -> None:
    token = await first_token(service)
    successor = (await refresh(service, token))["refresh_token"]
    stores, lost = service.features.shared.stores, parse(successor)
    await stores.kv.write(stores.refresh_tokens.drop(lost.selector, lost.digest))
    assert (await refresh(service, token))["refresh_token"] == successor
    assert (await refresh(service, successor)).status == 200


async def test_a_record_that_outlives_its_end_is_worth_nothing(service: RunningService) -> None:
    token = await first_token(service)
    records, handle = service.features.shared.stores.refresh_tokens, parse(token)
    (record,) = await service.features.shared.kv.read(records.read(handle.selector, handle.digest))
    assert isinstance(record, RefreshToken)
    over = records.put(
        msgspec.structs.replace(record, ends_at=int(time())), handle.selector, handle.digest, ttl=60
    )
    await service.features.shared.kv.write(over)
    assert (await refresh(service, token)).refusal == (400, "invalid_grant")


async def test_a_token_of_which_nothing_is_stored_any_more_ends_its_family(
    service: RunningService, events: list[object]
) -> None:
    first = await first_token(service)
    second = (await refresh(service, first))["refresh_token"]
    await forget(service, first)
    assert (await refresh(service, first)).refusal == (400, "invalid_grant")
    assert RefreshTokenReused(client_id="frontend", subject="818727") in events
    assert (await refresh(service, second)).refusal == (400, "invalid_grant")


@pytest.mark.rfc("7662#2.2")
async def test_a_used_token_of_which_nothing_is_stored_any_more_is_inactive(
    service: RunningService,
) -> None:
    first = await first_token(service)
    await refresh(service, first)
    await forget(service, first)
    assert not await service.is_active(first, caller="frontend")


async def test_a_token_of_a_family_without_a_key_has_a_marker_until_its_end(
    service: RunningService,
) -> None:
    token, stores = await first_token(service), service.features.shared.stores
    handle = parse(token)
    (granted,) = await stores.kv.read(stores.authorizations.read(handle.selector))
    (record,) = await stores.kv.read(stores.refresh_tokens.read(handle.selector, handle.digest))
    assert granted is not None
    assert isinstance(record, RefreshToken)
    active = ActiveRefreshToken(
        handle=handle,
        authorization=msgspec.structs.replace(granted, family_key=None),
        record=record,
    )
    client = service.features.shared.registry.current.clients["frontend"]
    single_use = use_up(stores, active, client, now=record.ends_at - 5000)
    assert single_use.swap[3:5] == ("EX", 5000)


@pytest.mark.parametrize("has_key", [True, False], ids=["with a key", "without a key"])
async def test_a_token_that_the_family_never_had_does_it_no_harm(
    service: RunningService, events: list[object], *, has_key: bool
) -> None:
    token, stores = await first_token(service), service.features.shared.stores
    (granted,) = await stores.kv.read(stores.authorizations.read(parse(token).selector))
    assert granted is not None
    if not has_key:
        keyless = msgspec.structs.replace(granted, family_key=None)
        await stores.kv.write(stores.authorizations.put(keyless, keyless.id, ttl=600))
    invented = new_handle("refresh_token", parse(token).selector).text
    assert (await refresh(service, invented)).refusal == (400, "invalid_grant")
    assert not any(isinstance(event, RefreshTokenReused) for event in events)
    assert (await refresh(service, token)).status == 200


async def test_revoking_a_token_of_which_nothing_is_stored_ends_its_grant(
    service: RunningService,
) -> None:
    first = await first_token(service)
    second = await refresh(service, first)
    await forget(service, first)
    await service.post("/connect/revocation", auth="frontend", token=first)
    assert not await service.is_active(second["access_token"])


async def forget(service: RunningService, token: str) -> None:
    """As when the marker of a used token has expired."""
    spent, stores = parse(token), service.features.shared.stores
    await stores.kv.write(stores.refresh_tokens.drop(spent.selector, spent.digest))
