"""The authorization requests that are understood, and the refusals of others."""

from __future__ import annotations

import pytest

from tests.certification.identity_token import unrequested
from tests.certification.relying_party import RelyingParty


class Requests:
    """Parameters that are missing, unknown, in another order or not registered."""

    @pytest.mark.conformance("oidcc-response-type-missing")
    @pytest.mark.rfc("6749#3.1.1", "openid-core#3.1.2.6")
    async def test_a_request_without_a_response_type_is_refused(self, party: RelyingParty) -> None:
        response = await party.respond(response_type=None)
        response.check_error("invalid_request", "unsupported_response_type")

    @pytest.mark.conformance("oidcc-ensure-registered-redirect-uri")
    @pytest.mark.rfc("openid-core#3.1.2.1", "6749#3.1.2.4")
    async def test_an_unregistered_redirect_uri_gets_an_error_page(
        self, party: RelyingParty
    ) -> None:
        unregistered = party.redirect_uri + "/another"
        page = await party.authorize(party.request(redirect_uri=unregistered))
        assert (page.status, page.error) == (400, "invalid_request")
        assert unregistered not in page.text

    @pytest.mark.conformance("oidcc-ensure-request-with-unknown-parameter-succeeds")
    @pytest.mark.rfc("6749#3.1", "openid-core#3.1.2.1")
    async def test_an_unknown_parameter_is_ignored(self, party: RelyingParty) -> None:
        await party.complete(extra="foobar")

    @pytest.mark.conformance("oidcc-alternate-happy-flow")
    @pytest.mark.rfc("6749#3.3")
    async def test_the_order_of_scope_values_and_parameters_does_not_matter(
        self, party: RelyingParty
    ) -> None:
        request = party.request(scope="email openid")
        reversed_request = dict(sorted(request.items(), reverse=True))
        page = await party.authorize(reversed_request)
        flow = await party.finish(await party.follow(reversed_request, page))
        alone = {"email", "email_verified"} if party.plan.words == {"id_token"} else set()
        assert unrequested(flow.claims or {}) == alone


class ByPost:
    """Authorization requests may be posted."""

    @pytest.mark.conformance("oidcc-ensure-post-request-succeeds")
    @pytest.mark.rfc("openid-core#3.1.2.1")
    async def test_a_request_may_come_by_post(self, party: RelyingParty) -> None:
        await party.complete(by_post=True)


class NonceOptional:
    """Response types without an ID token from the authorize endpoint."""

    @pytest.mark.conformance("oidcc-ensure-request-without-nonce-succeeds-for-code-flow")
    @pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#15.5.2")
    async def test_a_request_without_a_nonce_succeeds(self, party: RelyingParty) -> None:
        assert "nonce" not in ((await party.complete(nonce=None)).claims or {})


class NonceRequired:
    """Response types with one."""

    @pytest.mark.conformance("oidcc-ensure-request-without-nonce-fails")
    @pytest.mark.rfc("openid-core#3.2.2.1", "openid-core#3.3.2.11")
    async def test_a_request_without_a_nonce_is_refused(self, party: RelyingParty) -> None:
        (await party.respond(nonce=None)).check_error("invalid_request")
