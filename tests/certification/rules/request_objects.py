"""Request objects that nobody signed, and addresses that nobody registered (OIDC Core §6)."""

from __future__ import annotations

import pytest

from tests.certification.provider import Provider
from tests.certification.relying_party import RelyingParty
from tests.clients.signing import unsigned


class UnsignedRequestObjects:
    """`none` is never advertised, and only for a client that registered it."""

    @pytest.mark.conformance(
        "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported"
    )
    @pytest.mark.rfc("openid-core#6.1", "openid-core#3.1.2.6", "9101#10.8")
    async def test_an_unsigned_request_object_is_refused(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        assert "none" not in provider.metadata["request_object_signing_alg_values_supported"]
        request = party.request()
        response = await party.respond(**request, request=unsigned({"alg": "none"}, request))
        response.check_error("invalid_request_object")

    @pytest.mark.conformance(
        "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported"
    )
    @pytest.mark.rfc("openid-core#6.2", "openid-core#3.1.2.6")
    async def test_an_unregistered_request_uri_is_refused_unread(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        request = party.request()
        uri = provider.suite.publish(
            f"/requests/{request['state']}", unsigned({"alg": "none"}, request)
        )
        (await party.respond(**request, request_uri=uri)).check_error("invalid_request_uri")
        assert f"/requests/{request['state']}" not in provider.suite.fetched

    @pytest.mark.conformance("oidcc-ensure-request-object-with-redirect-uri")
    @pytest.mark.rfc("openid-core#6.1", "6749#3.1.2.4")
    async def test_an_unsigned_object_cannot_mend_a_bad_redirect_uri(
        self, party: RelyingParty
    ) -> None:
        request = party.request()
        bad = request | {"redirect_uri": party.redirect_uri + "/another"}
        page = await party.authorize(bad | {"request": unsigned({"alg": "none"}, request)})
        assert page.status == 400
        assert page.has("error")
