"""DPoP: proofs at each endpoint, and codes that are bound to a key."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.certification.fapi2.client import NO_PROOF, PAR, TOKEN, FapiClient
from tests.certification.fapi2.flow import complete
from tests.certification.fapi2.rules.marks import mirrors
from tests.certification.provider import ISSUER
from tests.driving.dpop import DpopKey
from tests.driving.service import Answer


class Proofs:
    """At the PAR and the token endpoint."""

    @mirrors("ensure-holder-of-key-required")
    @pytest.mark.rfc("fapi2#5.3.2.1", "9449#5")
    async def test_a_code_is_refused_without_a_proof(self, client: FapiClient) -> None:
        answer = await client.redeem(await client.code(), proof=NO_PROOF)
        assert answer.refusal == (400, "invalid_dpop_proof")

    @mirrors("refresh-token")
    @pytest.mark.rfc("fapi2#5.3.2.1", "9449#5")
    async def test_a_refresh_token_is_refused_without_a_proof(self, client: FapiClient) -> None:
        flow = await complete(client, prompt="consent")
        answer = await client.refresh(flow.refresh_token, proof=NO_PROOF)
        assert answer.refusal == (400, "invalid_dpop_proof")

    @mirrors("check-dpop-proof-nbf-exp")
    @pytest.mark.rfc("9449#4.2")
    async def test_a_proof_may_have_nbf_and_exp(self, client: FapiClient) -> None:
        await by_proofs(client, lambda: {"nbf": now(), "exp": now() + 300})

    @mirrors("ensure-dpopproof-with-iat-10seconds-before-succeeds")
    @mirrors("ensure-dpopproof-with-iat-10seconds-after-succeeds")
    @pytest.mark.rfc("fapi2#5.3.2.1", "9449#11.1")
    @pytest.mark.parametrize("seconds", [-10, 8])
    async def test_a_proof_of_some_seconds_ago_or_in_the_future_is_accepted(
        self, client: FapiClient, seconds: int
    ) -> None:
        await by_proofs(client, lambda: {"iat": now() + seconds})


class BoundCodes:
    """By `dpop_jkt`, or by the proof that comes with the pushed request (RFC 9449 §10)."""

    @mirrors("ensure-dpopproof-at-par-endpoint-binding-success")
    @pytest.mark.rfc("9449#10.1")
    async def test_the_key_of_the_pushed_request_redeems_the_code(self, client: FapiClient) -> None:
        await complete(client, proof=par_proof(client))

    @mirrors("happy-flow")
    @pytest.mark.rfc("9449#10")
    async def test_the_key_of_dpop_jkt_redeems_the_code(self, client: FapiClient) -> None:
        await complete(client, dpop_jkt=client.dpop.thumbprint)

    @mirrors("ensure-dpop-auth-code-binding-success")
    @pytest.mark.rfc("9449#10.1")
    async def test_dpop_jkt_may_come_with_a_proof_of_that_key(self, client: FapiClient) -> None:
        await complete(client, proof=par_proof(client), dpop_jkt=client.dpop.thumbprint)

    @mirrors("ensure-mismatched-dpop-jkt-fails")
    @pytest.mark.rfc("9449#10.1")
    async def test_dpop_jkt_may_not_come_with_a_proof_of_another_key(
        self, client: FapiClient
    ) -> None:
        request = client.request(dpop_jkt=DpopKey(ISSUER).thumbprint)
        pushed = await client.push(request, proof=par_proof(client))
        assert pushed.refusal == (400, "invalid_request")

    @mirrors("ensure-token-endpoint-fails-with-mismatched-dpop-jkt")
    @pytest.mark.rfc("9449#10")
    async def test_another_key_than_that_of_dpop_jkt_is_refused(self, client: FapiClient) -> None:
        code = await client.code(dpop_jkt=DpopKey(ISSUER).thumbprint)
        assert (await client.redeem(code)).refusal == (400, "invalid_grant")

    @mirrors("ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt")
    @pytest.mark.rfc("9449#10.1")
    async def test_another_key_than_that_of_the_pushed_request_is_refused(
        self, client: FapiClient
    ) -> None:
        code = await client.code(proof=par_proof(client))
        client.dpop = DpopKey(ISSUER)
        assert (await client.redeem(code)).refusal == (400, "invalid_grant")


def now() -> int:
    return int(time.time())


def par_proof(client: FapiClient, **claims: Any) -> str:
    """A proof for the PAR endpoint."""
    return client.dpop.proof(client.provider.path(PAR), **claims)


async def by_proofs(client: FapiClient, claims: Callable[[], dict[str, Any]]) -> None:
    """Get a token, and use it where there is userinfo, by proofs that all have these claims."""
    code = await client.code(proof=par_proof(client, **claims()))
    proof = client.dpop.proof(client.provider.path(TOKEN), **claims())
    tokens = await client.redeem(code, proof=proof)
    assert tokens["token_type"] == "DPoP"
    if client.plan.is_openid:
        userinfo: Answer = await client.call(
            tokens["access_token"], proof=resource_proof(client, tokens["access_token"], **claims())
        )
        assert userinfo.status == 200


def resource_proof(client: FapiClient, access_token: str, **spoiled: Any) -> str:
    """A proof for userinfo, spoiled in its header (`header`) or its claims."""
    path = client.provider.path("userinfo_endpoint")
    return client.dpop.proof(path, "GET", access_token=access_token, **spoiled)
