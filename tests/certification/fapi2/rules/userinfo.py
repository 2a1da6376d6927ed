"""The protected resource takes tokens as FAPI says; this one is userinfo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from service.protocol.octets import base64url
from tests.certification.fapi2.certificates import passed_on
from tests.certification.fapi2.client import NO_PROOF, FapiClient
from tests.certification.fapi2.flow import complete
from tests.certification.fapi2.rules.dpop import now, resource_proof
from tests.certification.fapi2.rules.marks import mirrors
from tests.certification.provider import ISSUER
from tests.driving.dpop import DpopKey
from tests.driving.service import Answer, claims_in

Proof = Callable[[FapiClient, str], str]

JSON = "application/json; charset=utf-8"
ANY_JSON = "application/json, application/*+json, */*"


def spoiled(**changes: Any) -> Proof:
    """A proof with another header or other claims."""
    return lambda client, token: resource_proof(client, token, **changes)


def without_alg(client: FapiClient, token: str) -> str:
    """Signed, but the header does not say how."""
    proof = resource_proof(client, token)
    header = {"typ": "dpop+jwt", "jwk": client.dpop.key.as_dict(private=False)}
    return ".".join([base64url(orjson.dumps(header)), *proof.split(".")[1:]])


def unsigned(client: FapiClient, token: str) -> str:
    """By alg none."""
    header = base64url(b'{"alg":"none","typ":"dpop+jwt"}')
    return f"{header}.{base64url(orjson.dumps(claims_in(resource_proof(client, token))))}."


def another_signature(client: FapiClient, token: str) -> str:
    """That of another proof."""
    first, second = (resource_proof(client, token) for _ in range(2))
    return f"{first.rpartition('.')[0]}.{second.rpartition('.')[2]}"


def private_key(client: FapiClient, token: str) -> str:
    """With the private key in the header."""
    return resource_proof(client, token, header={"jwk": client.dpop.key.as_dict(private=True)})


def another_key(client: FapiClient, token: str) -> str:
    """By a key that the token is not bound to."""
    path = client.provider.path("userinfo_endpoint")
    return DpopKey(ISSUER).proof(path, "GET", access_token=token)


REFUSED: dict[str, Proof] = {
    "two proofs": lambda client, token: ", ".join(resource_proof(client, token) for _ in range(2)),
    "no JWT": lambda client, token: resource_proof(client, token).rpartition(".")[0],
    "no typ": spoiled(header={"typ": None}),
    "no alg": without_alg,
    "no jwk": spoiled(header={"jwk": None}),
    "no jti": spoiled(jti=None),
    "no htm": spoiled(htm=None),
    "no htu": spoiled(htu=None),
    "no iat": spoiled(iat=None),
    "no ath": spoiled(ath=None),
    "another typ": spoiled(header={"typ": "dpop+jwt+wrongyousee"}),
    "alg none": unsigned,
    "another signature": another_signature,
    "a private key": private_key,
    "another method": spoiled(htm="PUT"),
    "another URL": spoiled(htu=f"{ISSUER}/connect/userinfoohnonotagain"),
    "an hour in the future": lambda client, token: resource_proof(client, token, iat=now() + 3600),
    "an hour in the past": lambda client, token: resource_proof(client, token, iat=now() - 3600),
    "another ath": spoiled(ath="another"),
    "another key": another_key,
    "no proof": lambda *_: NO_PROOF,
}
ACCEPTED: dict[str, Proof] = {
    "htu with query and fragment": spoiled(htu=f"{ISSUER}/connect/userinfo?all#doors"),
    "htu without them": spoiled(htu=f"{ISSUER}/connect/userinfo"),
    "htu in capitals": spoiled(htu=f"{ISSUER.upper()}/connect/userinfo"),
    "htu with the default port": spoiled(htu=f"{ISSUER}:443/connect/userinfo"),
    "unknown members": spoiled(header={"tx_id": 1}, tx_id_key=1),
}


class ProofsAtUserinfo:
    """DPoP at the protected resource (RFC 9449 §4.3, §7.1)."""

    @mirrors("dpop-negative-tests")
    @pytest.mark.rfc("9449#4.3", "9449#7.1")
    @pytest.mark.parametrize("proof", REFUSED.values(), ids=REFUSED)
    async def test_a_wrong_proof_is_refused(self, client: FapiClient, proof: Proof) -> None:
        token = (await complete(client)).access_token
        assert (await client.call(token, proof=proof(client, token))).status == 401
        assert (await client.call(token)).status == 200

    @mirrors("dpop-negative-tests")
    @pytest.mark.rfc("fapi2#5.4.1")
    async def test_a_proof_signed_with_rs256_is_refused(self, client: FapiClient) -> None:
        client.dpop = DpopKey.for_algorithm("PS256", client.provider.service)
        client.dpop.issuer = ISSUER
        token = (await complete(client)).access_token
        client.dpop.alg = "RS256"
        assert (await client.call(token)).status == 401

    @mirrors("dpop-negative-tests")
    @pytest.mark.rfc("9449#4.3", "3986#6.2.2", "3986#6.2.3")
    @pytest.mark.parametrize("proof", ACCEPTED.values(), ids=ACCEPTED)
    async def test_an_unusual_proof_is_accepted(self, client: FapiClient, proof: Proof) -> None:
        token = (await complete(client)).access_token
        assert (await client.call(token, proof=proof(client, token))).status == 200

    @mirrors("dpop-negative-tests")
    @pytest.mark.rfc("9110#5.1")
    async def test_the_name_of_the_header_may_be_in_capitals(self, client: FapiClient) -> None:
        token = (await complete(client)).access_token
        capitals = {"DPOP": resource_proof(client, token)}
        assert (await client.call(token, proof=NO_PROOF, **capitals)).status == 200

    @mirrors("dpop-negative-tests")
    @pytest.mark.rfc("9449#11.1")
    async def test_a_jti_is_used_once(self, client: FapiClient) -> None:
        token = (await complete(client)).access_token
        first, second = (resource_proof(client, token, jti="the-same") for _ in range(2))
        assert (await client.call(token, proof=first)).status == 200
        assert (await client.call(token, proof=second)).status == 401

    @mirrors("dpop-negative-tests")
    @pytest.mark.rfc("9449#7.2")
    @pytest.mark.parametrize("proof", [None, NO_PROOF], ids=["with a proof", "without"])
    async def test_a_bound_token_is_refused_as_a_bearer_token(
        self, client: FapiClient, proof: str | None
    ) -> None:
        token = (await complete(client)).access_token
        assert (await client.call(token, scheme="Bearer", proof=proof)).status == 401


class Userinfo:
    """Whatever the token is bound to."""

    @mirrors("access-token-type-header-case-sensitivity")
    @pytest.mark.rfc("9110#11.1")
    async def test_the_scheme_before_the_token_is_case_insensitive(
        self, client: FapiClient
    ) -> None:
        flow = await complete(client)
        inverted = flow.tokens["token_type"].swapcase()
        assert (await client.call(flow.access_token, scheme=inverted)).status == 200

    @mirrors("happy-flow")
    @pytest.mark.rfc("fapi2#5.3.4", "9700#4.3.2")
    async def test_a_token_in_the_query_is_refused(self, client: FapiClient) -> None:
        token = (await complete(client)).access_token
        assert (await in_query(client, token)).status == 401

    @mirrors("happy-flow")
    @pytest.mark.rfc("9110#12.5.1")
    @pytest.mark.parametrize("accept", [JSON, ANY_JSON])
    async def test_an_accept_header_may_ask_for_any_json(
        self, client: FapiClient, accept: str
    ) -> None:
        token = (await complete(client)).access_token
        assert (await client.call(token, Accept=accept)).status == 200


async def in_query(client: FapiClient, access_token: str) -> Answer:
    """Userinfo, asked by a URL with the token in it."""
    path = client.provider.path("userinfo_endpoint")
    by_dpop = client.plan.sender_constrain == "dpop"
    proof = {"DPoP": resource_proof(client, access_token)}
    return await client.provider.service.get(
        f"{path}?access_token={access_token}",
        headers=proof if by_dpop else passed_on(client.certificate),
    )
