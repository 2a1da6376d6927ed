"""Client assertions: who signed them, how, when and for whom (private_key_jwt)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.certification.fapi2.client import PAR, TOKEN, FapiClient
from tests.certification.fapi2.flow import finish
from tests.certification.fapi2.keys import SigningKey, times
from tests.certification.fapi2.rules.marks import mirrors
from tests.certification.provider import ISSUER

INVALID_CLIENT = (401, "invalid_client")


class Assertions:
    """At the token endpoint, with a good code."""

    @mirrors("ensure-client-id-in-token-endpoint")
    @pytest.mark.rfc("7523#3", "6749#5.2")
    async def test_an_assertion_that_another_client_signed_is_refused(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        forged = {
            "client_id": second_client.client_id,
            **second_client.assertion(SigningKey(key=client.key.key, alg=client.key.alg)),
        }
        answer = await client.redeem(await client.code(), credentials=forged)
        assert answer.refusal == INVALID_CLIENT

    @mirrors("ensure-signed-client-assertion-with-RS256-fails")
    @pytest.mark.rfc("fapi2#5.4.1")
    async def test_an_assertion_signed_with_rs256_is_refused(self, client: FapiClient) -> None:
        weak = client.assertion(SigningKey(key=client.key.key, alg="RS256"))
        answer = await client.redeem(await client.code(), credentials=weak)
        assert answer.refusal == INVALID_CLIENT

    @mirrors("ensure-client-assertion-in-token-endpoint")
    @pytest.mark.rfc("6749#3.2.1", "6749#5.2")
    async def test_a_code_is_refused_without_an_assertion(self, client: FapiClient) -> None:
        nothing = {"client_id": client.client_id}
        answer = await client.redeem(await client.code(), credentials=nothing)
        assert answer.refusal == INVALID_CLIENT

    @mirrors("ensure-client-assertion-with-exp-is-5-minutes-in-past-fails")
    @mirrors("ensure-client-assertion-with-wrong-aud-fails")
    @mirrors("ensure-client-assertion-with-no-sub-fails")
    @pytest.mark.rfc("7523#3", "fapi2#5.3.2.1")
    @pytest.mark.parametrize(
        "claims",
        [times(lifetime=-300), {"aud": "https://another.example/token"}, {"sub": None}],
        ids=["expired", "for another server", "without sub"],
    )
    async def test_a_wrong_assertion_is_refused(
        self, client: FapiClient, claims: dict[str, Any]
    ) -> None:
        answer = await client.redeem(
            await client.code(), credentials=client.assertion(None, **claims)
        )
        assert answer.refusal == INVALID_CLIENT


class AssertionsAtPar:
    """At the PAR endpoint."""

    @mirrors("par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted")
    @pytest.mark.rfc("fapi2#5.3.2.1", "7519#4.1.5")
    async def test_an_assertion_of_8_seconds_in_the_future_is_accepted(
        self, client: FapiClient
    ) -> None:
        request = client.request()
        early = client.assertion(**later(8))
        page = await client.begin(request, credentials=early)
        await finish(client, await client.follow(request, page))

    @mirrors("par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails")
    @pytest.mark.rfc("fapi2#5.3.2.1", "7519#4.1.5")
    async def test_an_assertion_of_62_seconds_in_the_future_is_refused(
        self, client: FapiClient
    ) -> None:
        early = client.assertion(**later(62))
        pushed = await client.push(client.request(), credentials=early)
        assert pushed.refusal == INVALID_CLIENT

    @mirrors("par-test-array-as-audience-fails")
    @mirrors("par-test-par-endpoint-url-as-audience-fails")
    @mirrors("par-test-token-endpoint-url-as-audience-fails")
    @pytest.mark.rfc("fapi2#5.3.2.1")
    @pytest.mark.parametrize("audience", ["array", PAR, TOKEN])
    async def test_an_assertion_for_more_than_the_issuer_is_refused(
        self, client: FapiClient, audience: str
    ) -> None:
        several = [ISSUER, "https://another.example"]
        aud = several if audience == "array" else client.provider.metadata[audience]
        pushed = await client.push(client.request(), credentials=client.assertion(aud=aud))
        assert pushed.refusal == INVALID_CLIENT


def later(seconds: int) -> dict[str, Any]:
    """The times of an assertion, by a clock that is this fast."""
    return {name: int(time or 0) + seconds for name, time in times().items()}
