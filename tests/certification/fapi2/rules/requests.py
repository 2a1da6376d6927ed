"""The refusals of authorization requests."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from service.protocol.pkce import s256
from tests.certification.fapi2.client import PAR, FapiClient
from tests.certification.fapi2.rules.marks import mirrors
from tests.conftest import Clock


class Requests:
    """At the PAR endpoint, where everything is checked."""

    @mirrors("plain-fapi-tolerate-unregistered-redirect-uri")
    @pytest.mark.rfc("9126#2.4", "6749#3.1.2.4")
    async def test_an_unregistered_redirect_uri_is_refused(self, client: FapiClient) -> None:
        request = client.request(redirect_uri=client.redirect_uri + "/another")
        assert (await client.push(request)).refusal == (400, "invalid_request")

    @mirrors("ensure-redirect-uri-in-authorization-request")
    @mirrors("ensure-request-object-without-redirect-uri-fails")
    @pytest.mark.rfc("fapi2#5.3.2.2", "9126#2.3")
    async def test_a_request_without_a_redirect_uri_is_refused(self, client: FapiClient) -> None:
        pushed = await client.push(client.request(redirect_uri=None))
        assert pushed.refusal == (400, "invalid_request")

    @mirrors("ensure-response-type-code-idtoken-fails")
    @mirrors("ensure-response-type-token-fails")
    @pytest.mark.rfc("fapi2#5.3.2.2", "9126#2.3")
    @pytest.mark.parametrize("response_type", ["code id_token", "token"])
    async def test_a_response_type_other_than_code_is_refused(
        self, client: FapiClient, response_type: str
    ) -> None:
        pushed = await client.push(client.request(response_type=response_type, nonce="a-nonce"))
        assert pushed.status == 400
        assert pushed.error in {"unauthorized_client", "unsupported_response_type"}

    @mirrors("par-ensure-pkce-required")
    @pytest.mark.rfc("7636#4.4.1", "fapi2#5.3.2.2")
    async def test_a_request_without_a_challenge_is_refused(self, client: FapiClient) -> None:
        request = client.request(code_challenge=None, code_challenge_method=None)
        assert (await client.push(request)).refusal == (400, "invalid_request")

    @mirrors("par-plain-pkce-rejected")
    @pytest.mark.rfc("7636#4.4.1", "fapi2#5.3.2.2")
    async def test_a_plain_challenge_is_refused(self, client: FapiClient) -> None:
        request = client.request(code_challenge=client.verifier, code_challenge_method="plain")
        assert (await client.push(request)).refusal == (400, "invalid_request")

    @mirrors("ensure-unsigned-authorization-request-without-using-par-fails")
    @pytest.mark.rfc("9126#5", "fapi2#5.3.2.2")
    async def test_a_request_that_was_not_pushed_is_refused(self, client: FapiClient) -> None:
        request = client.request()
        path = client.provider.path("authorization_endpoint")
        page = await client.browser.get(f"{path}?{urlencode(request)}")
        (await client.open(request, page)).check_error("invalid_request")

    @mirrors("par-authorization-request-containing-request_uri-form-param")
    @pytest.mark.rfc("9126#2.1")
    async def test_a_pushed_request_with_a_request_uri_is_refused(self, client: FapiClient) -> None:
        request = client.request(request_uri="urn:ietf:params:oauth:request_uri:another")
        assert (await client.send(PAR, request)).refusal == (400, "invalid_request")

    @mirrors("par-attempt-invalid-http-method")
    @pytest.mark.rfc("9126#2.3")
    async def test_a_request_that_is_pushed_by_put_is_refused(self, client: FapiClient) -> None:
        form = {**client.request(), **client.assertion()}
        path = client.provider.path(PAR)
        assert (await client.provider.service.request("PUT", path, data=form)).status == 405


class PushedRequests:
    """The lifetime of a request_uri, and its client."""

    @mirrors("par-ensure-reused-request-uri-prior-to-auth-completion-succeeds")
    @pytest.mark.rfc("fapi2#5.3.2.2", "9126#7.3")
    async def test_the_login_page_does_not_use_up_the_request_uri(self, client: FapiClient) -> None:
        request = client.request()
        pushed = await client.push(request)
        assert (await client.visit(request, pushed["request_uri"])).has("login")
        page = await client.visit(request, pushed["request_uri"])
        (await client.follow(request, page)).check_success()

    @mirrors("par-attempt-reuse-request_uri")
    @pytest.mark.rfc("9126#7.3")
    async def test_the_authorization_response_uses_up_the_request_uri(
        self, client: FapiClient
    ) -> None:
        request = client.request()
        pushed = await client.push(request)
        page = await client.visit(request, pushed["request_uri"])
        (await client.follow(request, page)).check_success()
        again = await client.visit(request, pushed["request_uri"])
        assert (again.status, again.error) == (400, "invalid_request_uri")

    @mirrors("par-attempt-to-use-expired-request_uri")
    @pytest.mark.rfc("9126#2.2")
    async def test_a_request_uri_expires(self, client: FapiClient, clock: Clock) -> None:
        request = client.request()
        pushed = await client.push(request)
        clock.forward(seconds=pushed["expires_in"] + 1)
        late = await client.visit(request, pushed["request_uri"])
        assert (late.status, late.error) == (400, "invalid_request_uri")

    @mirrors("par-attempt-to-use-request_uri-for-different-client")
    @pytest.mark.rfc("9126#2.2")
    async def test_a_request_uri_is_refused_to_another_client(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        request = client.request()
        pushed = await client.push(request)
        stolen = await client.visit(
            request, pushed["request_uri"], client_id=second_client.client_id
        )
        assert (stolen.status, stolen.error) == (400, "invalid_request_uri")


class Verifiers:
    """PKCE at the token endpoint."""

    @mirrors("ensure-pkce-code-verifier-required")
    @pytest.mark.rfc("7636#4.6")
    async def test_a_code_is_refused_without_its_verifier(self, client: FapiClient) -> None:
        answer = await client.redeem(await client.code(), code_verifier=None)
        assert answer.refusal == (400, "invalid_grant")

    @mirrors("incorrect-pkce-code-verifier-rejected")
    @pytest.mark.rfc("7636#4.6")
    async def test_a_code_is_refused_with_another_verifier(self, client: FapiClient) -> None:
        another = s256(client.verifier)
        answer = await client.redeem(await client.code(), code_verifier=another)
        assert answer.refusal == (400, "invalid_grant")
