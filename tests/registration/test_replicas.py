"""A client is registered and deleted on all replicas at once (RFC 7592 §2.3)."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.registering import bearer, register
from tests.driving.service import Answer, RunningService

Mortal = tuple[str, subprocess.Popen[bytes]]
pytestmark = pytest.mark.rfc("7591#3.2.1", "7592#2.3")

MACHINE: dict[str, Any] = {"grant_types": ["client_credentials"], "redirect_uris": None}


@pytest.fixture
def config(config: dict[str, Any], mortal_redis: Mortal) -> dict[str, Any]:
    """One store for both."""
    return config | {"issuer": "https://id.example", "store": {"url": mortal_redis[0]}}


@pytest.fixture
async def other(start: Start, config: dict[str, Any]) -> RunningService:
    """A second replica."""
    return await start(config)


async def token_at(replica: RunningService, told: Answer) -> Answer:
    """A token for the client itself."""
    pair = told["client_id"], told["client_secret"]
    return await replica.token(pair, grant_type="client_credentials", scope="api1")


async def test_a_client_is_known_on_every_replica_until_it_is_deleted(
    service: RunningService, other: RunningService
) -> None:
    told = await register(service, **MACHINE)
    token = await token_at(other, told)
    assert token.status == 200
    path = f"/connect/register/{told['client_id']}"
    sent = bearer(told["registration_access_token"])
    assert (await other.request("DELETE", path, headers=sent)).status == 204
    assert (await token_at(service, told)).refusal == (401, "invalid_client")
    assert not await service.is_active(token["access_token"])


async def test_the_value_of_a_secret_is_known_on_every_replica(
    service: RunningService, other: RunningService
) -> None:
    told = await register(service, token_endpoint_auth_method="client_secret_jwt", **MACHINE)
    client = await other.features.clients.find(told["client_id"])
    assert client is not None
    assert client.client_secrets[0].value == told["client_secret"]
    assert told["client_secret"] not in repr(client)


async def test_a_client_outlives_a_restart(start: Start, config: dict[str, Any]) -> None:
    told = await register(await start(config), **MACHINE)
    assert (await token_at(await start(config), told)).status == 200


async def test_an_unavailable_store_does_not_make_a_client_unknown(
    service: RunningService, mortal_redis: Mortal
) -> None:
    told = await register(service, **MACHINE)
    mortal_redis[1].kill()
    mortal_redis[1].wait()
    refused = await token_at(service, told)
    assert refused.refusal == (503, "temporarily_unavailable")
    assert (await register(service)).refusal == (503, "temporarily_unavailable")
