"""Signed authorization requests, by a client that has to sign them (RFC 9101, FAPI 2.0 Message Signing §5.3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.certification.fapi2.client import FapiClient
from tests.certification.fapi2.flow import finish
from tests.certification.fapi2.keys import SigningKey, times
from tests.certification.fapi2.rules.marks import mirrors
from tests.certification.provider import ISSUER

_INVALID = (400, "invalid_request_object")
_MINUTE = 60


class SignedRequests:
    """fapi_request_method=signed_non_repudiation."""

    @mirrors("happy-flow")
    @pytest.mark.rfc("9101#10.8", "7515#4.1.9")
    async def test_the_typ_of_a_request_object_is_case_insensitive(
        self, second_client: FapiClient
    ) -> None:
        request = second_client.request()
        signed = second_client.request_object(request, typ="OautH-auThZ-REQ+jWt")
        page = await second_client.begin(request, request_object=signed)
        await finish(second_client, await second_client.follow(request, page))

    @mirrors("happy-flow")
    @pytest.mark.rfc("9101#4")
    async def test_a_request_object_without_a_typ_is_accepted(self, client: FapiClient) -> None:
        request = client.request()
        signed = client.request_object(request, typ=None)
        assert (await client.push(request, request_object=signed)).status == 201

    @mirrors("ensure-request-object-with-multiple-aud-succeeds")
    @pytest.mark.rfc("fapi2-message-signing#5.3.1", "7519#4.1.3")
    async def test_the_issuer_may_be_one_audience_of_several(self, client: FapiClient) -> None:
        await accepted(client, aud=[ISSUER, "https://other1.example.com", "invalid"])

    @mirrors("ensure-request-object-with-nbf-8-seconds-in-the-future-is-accepted")
    @pytest.mark.rfc("fapi2#5.3.2.1", "7519#4.1.5")
    async def test_a_request_object_of_8_seconds_in_the_future_is_accepted(
        self, client: FapiClient
    ) -> None:
        await accepted(client, nbf=in_seconds(8))

    @mirrors("ensure-request-object-without-exp-fails")
    @mirrors("ensure-request-object-without-nbf-fails")
    @pytest.mark.rfc("fapi2-message-signing#5.3.1")
    @pytest.mark.parametrize("name", ["exp", "nbf"])
    async def test_a_request_object_without_its_times_is_refused(
        self, client: FapiClient, name: str
    ) -> None:
        await refused(client, **{name: None})

    @mirrors("ensure-expired-request-object-fails")
    @pytest.mark.rfc("7519#4.1.4")
    async def test_an_expired_request_object_is_refused(self, client: FapiClient) -> None:
        await refused(client, exp=in_seconds(-5 * _MINUTE))

    @mirrors("ensure-request-object-with-exp-over-60-fails")
    @mirrors("ensure-request-object-with-nbf-over-60-fails")
    @pytest.mark.rfc("fapi2-message-signing#5.3.1")
    @pytest.mark.parametrize(("name", "minutes"), [("exp", 70), ("nbf", -70)])
    async def test_a_request_object_for_more_than_an_hour_is_refused(
        self, client: FapiClient, name: str, minutes: int
    ) -> None:
        await refused(client, **{name: in_seconds(minutes * _MINUTE)})

    @mirrors("ensure-request-object-with-bad-aud-fails")
    @pytest.mark.rfc("fapi2-message-signing#5.3.1", "7519#4.1.3")
    async def test_a_request_object_for_another_server_is_refused(self, client: FapiClient) -> None:
        await refused(client, aud="https://www.other1.example.com/")

    @mirrors("par-authorization-request-containing-request_uri")
    @pytest.mark.rfc("9101#4", "9126#2.1")
    async def test_a_request_object_with_a_request_uri_is_refused(self, client: FapiClient) -> None:
        await refused(client, request_uri="urn:ietf:params:oauth:request_uri:another")


class SignaturesOfRequests:
    """The signer of a request object, and its algorithm."""

    @mirrors("ensure-signed-request-object-with-RS256-fails")
    @pytest.mark.rfc("fapi2#5.4.1")
    async def test_a_request_object_signed_with_rs256_is_refused(self, client: FapiClient) -> None:
        await signed_by(client, SigningKey(key=client.key.key, alg="RS256"))

    @mirrors("ensure-matching-key-in-authorization-request")
    @pytest.mark.rfc("9101#6.2")
    async def test_a_request_object_that_another_client_signed_is_refused(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        await signed_by(client, second_client.key)

    @mirrors("ensure-request-object-with-invalid-signature-fails")
    @pytest.mark.rfc("9101#6.2")
    async def test_a_request_object_with_another_signature_is_refused(
        self, client: FapiClient
    ) -> None:
        request = client.request()
        first, second = (client.request_object(request, jti=str(n)) for n in range(2))
        mixed = f"{first.rpartition('.')[0]}.{second.rpartition('.')[2]}"
        assert (await client.push(request, request_object=mixed)).refusal == _INVALID

    @mirrors("ensure-request-object-signature-algorithm-is-not-none")
    @pytest.mark.rfc("9101#6.2", "8725#3.1")
    async def test_a_request_object_with_alg_none_is_refused(self, client: FapiClient) -> None:
        request = client.request()
        claims = client.request_object(request).split(".")[1]
        unsigned = f"eyJhbGciOiJub25lIn0.{claims}."
        assert (await client.push(request, request_object=unsigned)).refusal == _INVALID

    @mirrors("ensure-unsigned-request-at-par-endpoint-fails")
    @pytest.mark.rfc("fapi2-message-signing#5.3.1", "9101#10.5")
    async def test_a_request_that_is_not_signed_is_refused(self, client: FapiClient) -> None:
        answer = await client.send("pushed_authorization_request_endpoint", client.request())
        assert answer.refusal == (400, "invalid_request")


def in_seconds(seconds: int) -> int:
    return int(times()["iat"] or 0) + seconds


async def accepted(client: FapiClient, **claims: Any) -> None:
    """A whole flow by a request object with these claims."""
    request = client.request()
    page = await client.begin(request, request_object=client.request_object(request, **claims))
    await finish(client, await client.follow(request, page))


async def refused(client: FapiClient, **claims: Any) -> None:
    """A request object with these claims is refused, or (None) without them."""
    request = client.request()
    pushed = await client.push(request, request_object=client.request_object(request, **claims))
    assert pushed.refusal == _INVALID


async def signed_by(client: FapiClient, key: SigningKey) -> None:
    """A request object that this key signed is refused."""
    request = client.request()
    pushed = await client.push(request, request_object=client.request_object(request, key=key))
    assert pushed.refusal == _INVALID
