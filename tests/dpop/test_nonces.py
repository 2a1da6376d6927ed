"""A proof has a nonce of this service where nonces are needed, whichever replica made it (RFC 9449 §8, §9)."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.conftest import Clock, Start
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("9449#8")

NONCE = "DPoP-Nonce"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "machine")["dpop_nonce_required"] = True
    return config


async def ask(
    service: RunningService, key: DpopKey, client: str = "machine", **claims: Any
) -> Answer:
    headers = key.header(**claims)
    return await service.token(client, grant_type="client_credentials", headers=headers)


async def test_a_proof_without_a_nonce_is_told_one(service: RunningService, key: DpopKey) -> None:
    refused = await ask(service, key)
    assert refused.refusal == (400, "use_dpop_nonce")
    answer = await ask(service, key, nonce=refused.headers[NONCE])
    assert answer["token_type"] == "DPoP"
    assert answer.headers[NONCE]


async def test_a_nonce_ends(service: RunningService, key: DpopKey, clock: Clock) -> None:
    nonce = (await ask(service, key)).headers[NONCE]
    clock.forward(seconds=60)
    assert (await ask(service, key, nonce=nonce)).status == 200
    clock.forward(seconds=60)
    refused = await ask(service, key, nonce=nonce)
    assert refused.refusal == (400, "use_dpop_nonce")
    assert refused.headers[NONCE] != nonce


async def test_a_nonce_of_a_replica_whose_clock_is_ahead_counts(
    service: RunningService, key: DpopKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as ahead:
        ahead.setattr("service.clients.proofs.clock", lambda: int(time.time()) + 60)
        nonce = (await ask(service, key)).headers[NONCE]
    assert (await ask(service, key, nonce=nonce)).status == 200


async def test_the_secret_that_makes_them_shows_in_no_trace(
    service: RunningService, key: DpopKey
) -> None:
    await ask(service, key)
    nonces = service.features.dpop.nonces
    assert repr(nonces.keys.signing_key().derive_secret(b"DPoP nonce")) not in repr(nonces)


async def test_other_clients_need_none(service: RunningService, key: DpopKey) -> None:
    answer = await ask(service, key, "robot")
    assert answer["token_type"] == "DPoP"
    assert NONCE not in answer.headers


async def test_a_bearer_request_is_told_none(service: RunningService) -> None:
    answer = await service.token("machine", grant_type="client_credentials")
    assert answer["token_type"] == "Bearer"
    assert NONCE not in answer.headers


@pytest.mark.rfc("9449#8.2")
@pytest.mark.parametrize("path", ["/connect/token", "/connect/par"])
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"headers": {"Content-Type": "text/plain"}}, 415),
        ({"scope": ["api1", "api2"]}, 400),
    ],
    ids=["another content type", "a repeated parameter"],
)
async def test_a_malformed_request_with_a_proof_is_told_one(
    start: Start, config: dict[str, Any], path: str, changes: dict[str, Any], status: int
) -> None:
    service = await start(config | {"dpop": {"nonce": "always"}})
    headers = DpopKey(service.issuer).header(path) | changes.get("headers", {})
    answer = await service.post(path, auth="web", **changes | {"headers": headers})
    assert answer.refusal == (status, "invalid_request")
    assert answer.headers[NONCE]


async def test_every_client_may_need_one(start: Start, config: dict[str, Any]) -> None:
    service = await start(config | {"dpop": {"nonce": "always"}})
    key = DpopKey(service.issuer)
    refused = await ask(service, key, "robot")
    assert refused.refusal == (400, "use_dpop_nonce")
    nonce = refused.headers[NONCE]
    token = (await ask(service, key, "robot", nonce=nonce))["access_token"]
    headers = {
        "Authorization": f"DPoP {token}",
        "DPoP": key.proof("/connect/userinfo", "GET", access_token=token),
    }
    answer = await service.get("/connect/userinfo", headers=headers)
    assert answer.refusal == (401, "use_dpop_nonce")
    assert 'error="use_dpop_nonce"' in answer.headers["WWW-Authenticate"]
    assert answer.headers[NONCE]


async def test_a_refusal_for_another_reason_brings_a_nonce_too(
    service: RunningService,
) -> None:
    headers = {"DPoP": "wrong"}
    answer = await service.token("machine", grant_type="client_credentials", headers=headers)
    assert answer.refusal == (400, "invalid_dpop_proof")
    assert answer.headers[NONCE]
