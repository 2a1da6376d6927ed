"""Tokens are bound to the key whose proof comes with the token request (RFC 9449 §5, §6)."""

from __future__ import annotations

import pytest

from service.keys.algorithms import SIGNING_ALGORITHMS
from tests.driving.dpop import DpopKey
from tests.driving.service import Answer, RunningService, claims_in

pytestmark = pytest.mark.rfc("9449#5", "9449#6")


async def machine_token(service: RunningService, client: str, headers: dict[str, str]) -> Answer:
    return await service.token(
        client, grant_type="client_credentials", scope="api1", headers=headers
    )


@pytest.mark.parametrize("client", ["machine", "robot"])
async def test_a_token_names_the_key_of_the_proof(
    service: RunningService, key: DpopKey, client: str
) -> None:
    answer = await machine_token(service, client, key.header())
    assert answer["token_type"] == "DPoP"
    introspected = await service.introspect(answer["access_token"])
    assert introspected["cnf"] == {"jkt": key.thumbprint}
    assert introspected["token_type"] == "DPoP"


@pytest.mark.usefixtures("one_store")
@pytest.mark.parametrize("alg", SIGNING_ALGORITHMS)
async def test_every_announced_algorithm_is_accepted(service: RunningService, alg: str) -> None:
    key = DpopKey.for_algorithm(alg, service)
    answer = await machine_token(service, "machine", key.header())
    assert claims_in(answer["access_token"])["cnf"] == {"jkt": key.thumbprint}
    discovery = await service.get("/.well-known/openid-configuration")
    assert alg in discovery["dpop_signing_alg_values_supported"]


async def test_without_a_proof_the_token_is_a_bearer_token(service: RunningService) -> None:
    answer = await machine_token(service, "machine", {})
    assert answer["token_type"] == "Bearer"
    assert "cnf" not in claims_in(answer["access_token"])
