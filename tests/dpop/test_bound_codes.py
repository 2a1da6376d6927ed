"""Refresh tokens of public clients are bound by the proof, those of confidential ones are not (RFC 9449 §5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.token.test_refresh_at_the_edge import forget

pytestmark = pytest.mark.rfc("9449#5")

OFFLINE = "openid api1 offline_access"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The refresh tokens of `native` are not rotated."""
    client_in(config, "native").update(
        allowed_grant_types=["authorization_code", "refresh_token"],
        allow_offline_access=True,
        refresh_token_usage="reuse",
    )
    return config


async def test_a_refresh_token_of_a_public_client_is_bound_to_its_key(
    app_of: Callable[[str], ClientApp], key: DpopKey
) -> None:
    spa = app_of("spa")
    tokens = await spa.redeem(await spa.code(scope=OFFLINE), headers=key.header())
    refresh_token = tokens["refresh_token"]
    following = await spa.refresh(refresh_token, headers=key.header())
    assert following["token_type"] == "DPoP"
    last = await spa.refresh(following["refresh_token"], headers=key.header())
    assert last["token_type"] == "DPoP"


@pytest.mark.parametrize("client_id", ["spa", "native"], ids=["rotated", "not rotated"])
async def test_a_bearer_refresh_token_of_a_public_client_is_bound_once_a_refresh_proves_a_key(
    service: RunningService, app_of: Callable[[str], ClientApp], key: DpopKey, client_id: str
) -> None:
    public = app_of(client_id)
    bearer = await public.redeem(await public.code(scope=OFFLINE))
    bound = await public.refresh(bearer["refresh_token"], headers=key.header())
    refresh_token = bound["refresh_token"]
    assert (await public.refresh(refresh_token)).refusal == (400, "invalid_dpop_proof")
    another = DpopKey(service.issuer).header()
    assert (await public.refresh(refresh_token, headers=another)).refusal == (400, "invalid_grant")
    assert (await public.refresh(refresh_token, headers=key.header()))["token_type"] == "DPoP"


@pytest.mark.rfc("9700#4.14.2")
@pytest.mark.parametrize("long_ago", [False, True], ids=["lately", "long ago"])
@pytest.mark.parametrize("proof", ["another key", "no key", "its key"])
async def test_a_used_bound_refresh_token_ends_its_family_only_with_its_key(
    service: RunningService,
    app_of: Callable[[str], ClientApp],
    key: DpopKey,
    proof: str,
    long_ago: bool,
) -> None:
    spa = app_of("spa")
    used = await spa.redeem(await spa.code(scope=OFFLINE), headers=key.header())
    following = await spa.refresh(used["refresh_token"], headers=key.header())
    if long_ago:
        await forget(service, used["refresh_token"])
    sender = {"another key": DpopKey(service.issuer), "its key": key}.get(proof)
    headers = {} if sender is None else sender.header()
    refused = await spa.refresh(used["refresh_token"], headers=headers)
    assert refused.refusal == (400, "invalid_grant")
    last = await spa.refresh(following["refresh_token"], headers=key.header())
    assert last.status == (400 if proof == "its key" else 200)


@pytest.mark.rfc("7009#2.1")
async def test_a_used_bound_refresh_token_still_revokes_its_family(
    service: RunningService, app_of: Callable[[str], ClientApp], key: DpopKey
) -> None:
    spa = app_of("spa")
    used = await spa.redeem(await spa.code(scope=OFFLINE), headers=key.header())
    following = await spa.refresh(used["refresh_token"], headers=key.header())
    await forget(service, used["refresh_token"])
    form = {"token": used["refresh_token"], "client_id": "spa"}
    assert (await service.post("/connect/revocation", **form)).status == 200
    last = await spa.refresh(following["refresh_token"], headers=key.header())
    assert last.refusal == (400, "invalid_grant")


async def test_a_confidential_client_may_refresh_with_another_key(
    service: RunningService, app: ClientApp, key: DpopKey
) -> None:
    tokens = await app.redeem(await app.code(scope=OFFLINE), headers=key.header())
    another = DpopKey(service.issuer)
    answer = await app.refresh(tokens["refresh_token"], headers=another.header())
    introspected = await service.introspect(answer["access_token"])
    assert introspected["cnf"] == {"jkt": another.thumbprint}
