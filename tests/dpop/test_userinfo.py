"""Userinfo takes a bound token with a proof of its key, and as nothing else (RFC 9449 §7)."""

from __future__ import annotations

import pytest

from service.keys.algorithms import SIGNING_ALGORITHMS
from tests.driving.dpop import DpopKey
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("9449#7.1", "9449#7.2")

USERINFO = "/connect/userinfo"


@pytest.fixture
async def token(service: RunningService, key: DpopKey) -> str:
    """A token of alice's that is bound to the key."""
    answer = await service.user_token(scope="openid", headers=key.header())
    return str(answer["access_token"])


async def ask(
    service: RunningService, scheme: str, token: str, proof: str | None, method: str = "GET"
) -> Answer:
    headers = {"Authorization": f"{scheme} {token}"} | ({"DPoP": proof} if proof else {})
    return await service.request(method, USERINFO, headers=headers)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_bound_token_is_accepted_with_its_proof(
    service: RunningService, key: DpopKey, token: str, method: str
) -> None:
    proof = key.proof(USERINFO, method, access_token=token)
    answer = await ask(service, "DPoP", token, proof, method)
    assert answer["sub"]


async def test_without_a_token_both_schemes_are_offered(service: RunningService) -> None:
    answer = await service.get(USERINFO)
    algorithms = " ".join(SIGNING_ALGORITHMS)
    offered = f'Bearer realm="{service.issuer}", DPoP algs="{algorithms}"'
    assert answer.headers["WWW-Authenticate"] == offered


async def test_a_proof_counts_once(service: RunningService, key: DpopKey, token: str) -> None:
    proof = key.proof(USERINFO, "GET", access_token=token)
    assert (await ask(service, "DPoP", token, proof)).status == 200
    again = await ask(service, "DPoP", token, proof)
    assert again.refusal == (401, "invalid_dpop_proof")
