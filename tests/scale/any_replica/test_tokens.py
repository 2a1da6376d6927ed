"""Tokens that one replica issued are known, redeemed, exchanged and revoked at the others."""

from __future__ import annotations

import asyncio

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService, claims_in
from tests.jwt_bearer.foreign import Partner
from tests.scale.any_replica.registry import SHOP
from tests.token_exchange.exchanging import exchange


@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["JWT", "reference"])
async def test_a_token_is_active_until_it_is_revoked(service: RunningService, client: str) -> None:
    token = (await service.user_token(client))["access_token"]
    assert await service.is_active(token)
    await service.post("/connect/revocation", auth=client, token=token)
    assert not await service.is_active(token)


@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["JWT", "reference"])
async def test_a_token_is_delegated_and_dies_with_its_source(
    service: RunningService, client: str
) -> None:
    source = (await service.user_token(client))["access_token"]
    exchanged = await service.token("api1", grant_type="delegation", token=source, scope="api2")
    assert await service.is_active(exchanged["access_token"], caller="api2")
    await service.post("/connect/revocation", auth=client, token=source)
    assert not await service.is_active(exchanged["access_token"], caller="api2")


@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["JWT", "reference"])
async def test_a_token_is_exchanged_and_ends_with_its_source(
    service: RunningService, client: str
) -> None:
    source = (await service.user_token(client))["access_token"]
    exchanged = (await exchange(service, source))["access_token"]
    assert await service.is_active(exchanged, caller="api2")
    await service.post("/connect/revocation", auth=client, token=source)
    assert not await service.is_active(exchanged, caller="api2")
    assert (await exchange(service, source)).refusal == (400, "invalid_request")


async def test_a_transaction_token_is_replaced_until_its_source_is_revoked(
    service: RunningService,
) -> None:
    source = (await service.user_token())["access_token"]
    asked = {"requested_token_type": "txn_token", "audience": SHOP, "scope": "checkout"}
    first = (await exchange(service, source, **asked))["access_token"]
    second = await exchange(service, first, of_type="txn_token", **asked)
    assert claims_in(second["access_token"])["txn"] == claims_in(first)["txn"]
    await service.post("/connect/revocation", auth="frontend", token=source)
    assert (await exchange(service, source, **asked)).refusal == (400, "invalid_request")


@pytest.mark.rfc("9449#8")
async def test_a_nonce_counts_wherever_it_is_sent(service: RunningService) -> None:
    key, form = DpopKey(service.issuer), {"grant_type": "client_credentials"}
    refused = await service.token("nonce", headers=key.header(), **form)
    assert refused.refusal == (400, "use_dpop_nonce")
    headers = key.header(nonce=refused.headers["DPoP-Nonce"])
    answer = await service.token("nonce", headers=headers, **form)
    assert answer["token_type"] == "DPoP"


async def test_a_machine_has_a_token_for_itself(service: RunningService) -> None:
    for client in ("machine", "robot"):
        token = await service.token(client, grant_type="client_credentials", scope="api1")
        assert await service.is_active(token["access_token"])


async def test_a_refresh_token_is_rotated_from_replica_to_replica(
    app: ClientApp, service: RunningService
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    for _ in range(6):
        tokens = await app.refresh(tokens["refresh_token"])
        assert await service.is_active(tokens["access_token"])


async def test_a_spent_refresh_token_ends_its_family(
    app: ClientApp, service: RunningService
) -> None:
    first = await app.tokens(scope="openid api1 offline_access")
    second = await app.refresh(first["refresh_token"])
    assert (await app.refresh(first["refresh_token"])).refusal == (400, "invalid_grant")
    assert (await app.refresh(second["refresh_token"])).refusal == (400, "invalid_grant")
    assert not await service.is_active(second["access_token"])


async def test_a_code_is_spent_once_however_many_replicas_are_asked_at_once(
    app: ClientApp,
) -> None:
    code = await app.code()
    answers = await asyncio.gather(*(app.redeem(code) for _ in range(12)))
    assert sum(answer.status == 200 for answer in answers) == 1


async def test_a_foreign_assertion_counts_once_however_many_replicas_are_asked_at_once(
    service: RunningService,
) -> None:
    partner = Partner(service)
    assertion = await partner.assertion()
    answers = await asyncio.gather(*(partner.present(assertion, scope="api1") for _ in range(12)))
    (granted,) = [answer for answer in answers if answer.status == 200]
    assert await service.is_active(granted["access_token"])
    assert {answer.refusal for answer in answers if answer is not granted} == {
        (400, "invalid_grant")
    }
