"""Request objects of clients that registered how they sign them (OIDC Core §6)."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.certification.provider import ALIAS, ISSUER
from tests.certification.registration import Registrar
from tests.certification.relying_party import RelyingParty
from tests.certification.response import Response
from tests.clients.signing import unsigned


class RequestObjects:
    """By reference, and by value."""

    @pytest.mark.conformance("oidcc-request-uri-unsigned")
    @pytest.mark.rfc("openid-core#6.2", "openid-registration#2")
    async def test_an_unsigned_object_is_read_where_none_is_registered(
        self, registrar: Registrar
    ) -> None:
        uri = f"{registrar.provider.suite.base}{ALIAS}/{uuid4()}"
        party = await registrar.register(
            request_uris=[uri + "#fragment"], request_object_signing_alg="none"
        )
        request = party.request()
        await by_reference(party, uri, request, unsigned({"alg": "none"}, request))

    @pytest.mark.conformance("oidcc-request-uri-signed-rs256")
    @pytest.mark.rfc("openid-core#6.1", "openid-core#6.2", "openid-registration#2")
    async def test_a_signed_object_is_read_where_it_is_registered(
        self, registrar: Registrar
    ) -> None:
        uri = f"{registrar.provider.suite.base}{ALIAS}/{uuid4()}"
        party = await registrar.register(
            request_uris=[uri + "#fragment"], request_object_signing_alg="RS256"
        )
        request = party.request()
        await by_reference(party, uri, request, signed(party, request))

    @pytest.mark.conformance("oidcc-ensure-request-object-with-redirect-uri")
    @pytest.mark.rfc("openid-core#6.1")
    async def test_what_the_object_says_is_in_force(self, registrar: Registrar) -> None:
        party = await registrar.register()
        request = party.request()
        outside = request | {"redirect_uri": party.redirect_uri + "/another"}
        page = await party.authorize(outside | {"request": signed(party, request)})
        await party.finish(await party.follow(request, page))


def signed(party: RelyingParty, request: dict[str, str]) -> str:
    """The request as a JWT of the client's, for the provider (OIDC Core §6.1)."""
    return party.sign({"iss": party.client_id, "aud": ISSUER, **request})


async def by_reference(
    party: RelyingParty, uri: str, request: dict[str, str], request_object: str
) -> None:
    """A whole flow whose request lies on the suite's site; only what OAuth needs is in the URL."""
    party.provider.suite.publish(uri.removeprefix(party.provider.suite.base), request_object)
    in_url = {name: request[name] for name in ("client_id", "response_type", "scope")}
    page = await party.authorize(in_url | {"request_uri": uri + "#fragment"})
    response: Response = await party.follow(request, page)
    await party.finish(response)
