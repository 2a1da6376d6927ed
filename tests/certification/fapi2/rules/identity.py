"""The additions of OpenID Connect to a flow."""

from __future__ import annotations

import json
import secrets

import pytest

from tests.certification.fapi2.client import FapiClient
from tests.certification.fapi2.flow import complete, finish
from tests.certification.fapi2.rules.marks import mirrors
from tests.certification.identity_token import unrequested

_NO_CLAIMS_OF_THE_USER = {"iss", "sub", "aud", "exp", "iat", "auth_time", "acr", "amr", "sid"}


class Identity:
    """Nonces, scopes and claims."""

    @mirrors("happy-flow")
    @pytest.mark.rfc("openid-core#5.4")
    async def test_the_identity_token_has_no_claim_that_was_not_asked_for(
        self, client: FapiClient
    ) -> None:
        assert unrequested((await complete(client)).claims) == set()

    @mirrors("ensure-authorization-request-without-nonce-success")
    @pytest.mark.rfc("openid-core#3.1.2.1")
    async def test_a_request_without_a_nonce_succeeds(self, client: FapiClient) -> None:
        assert "nonce" not in (await complete(client, nonce=None)).claims

    @mirrors("happy-flow")
    @mirrors("ensure-authorization-request-with-64-char-nonce-success")
    @pytest.mark.rfc("fapi2#5.3.2.2", "openid-core#2")
    @pytest.mark.parametrize("length", [43, 64])
    async def test_a_nonce_of_64_characters_comes_back_whole(
        self, client: FapiClient, length: int
    ) -> None:
        nonce = secrets.token_hex(length)[:length]
        assert (await complete(client, nonce=nonce)).claims["nonce"] == nonce

    @mirrors("ensure-authorization-request-with-long-nonce")
    @pytest.mark.rfc("9126#2.3")
    async def test_a_nonce_of_384_characters_is_refused_and_never_cut(
        self, client: FapiClient
    ) -> None:
        pushed = await client.push(client.request(nonce=secrets.token_hex(192)))
        assert pushed.refusal == (400, "invalid_request")

    @mirrors("ensure-different-nonce-inside-and-outside-request-object")
    @pytest.mark.rfc("9126#4", "fapi2#5.3.2.2")
    async def test_another_nonce_outside_the_request_uri_is_ignored(
        self, client: FapiClient
    ) -> None:
        request = client.request()
        pushed = await client.push(request)
        page = await client.visit(request, pushed["request_uri"], nonce="another")
        flow = await finish(client, await client.follow(request, page))
        assert flow.claims["nonce"] == request["nonce"]

    @mirrors("ensure-other-scope-order-succeeds")
    @pytest.mark.rfc("6749#3.3")
    async def test_the_order_of_scope_values_does_not_matter(self, client: FapiClient) -> None:
        await complete(client, scope=" ".join(reversed(client.plan.scope.split())))

    @mirrors("test-claims-parameter-identity-claims")
    @pytest.mark.rfc("openid-core#5.1", "openid-core#5.5", "openid-core#5.3.2")
    async def test_every_supported_claim_can_be_asked_for_and_an_unknown_one_is_ignored(
        self, client: FapiClient
    ) -> None:
        names = set(client.provider.metadata["claims_supported"]) - _NO_CLAIMS_OF_THE_USER
        asked = {name: {"essential": True} for name in names} | {secrets.token_hex(4): None}
        claims = json.dumps({"id_token": asked, "userinfo": asked, "elsewhere": {"x": None}})
        flow = await complete(client, claims=claims)
        userinfo = await client.call(flow.access_token)
        assert (userinfo.status, userinfo.headers["Content-Type"]) == (200, "application/json")
        assert userinfo["sub"] == flow.claims["sub"]
        assert unrequested(flow.claims) | unrequested(userinfo.json) == names
