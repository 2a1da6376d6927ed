"""The results of a flow."""

from __future__ import annotations

import pytest

from tests.certification.identity_token import unrequested
from tests.certification.provider import Provider
from tests.certification.relying_party import RelyingParty
from tests.driving.service import header_of


class Answers:
    """Every flow gives what its response type names, and identity tokens say who signed in."""

    @pytest.mark.conformance("oidcc-server")
    @pytest.mark.rfc("openid-core#2", "openid-core#3.1.3.3", "openid-core#3.3.2.5", "9207#2")
    async def test_a_flow_gives_what_was_asked_for_and_nothing_else(
        self, party: RelyingParty
    ) -> None:
        flow = await party.complete()
        assert unrequested(flow.claims or {}) == set()
        assert unrequested(flow.front_claims or {}) == set()

    @pytest.mark.conformance("oidcc-idtoken-signature")
    @pytest.mark.rfc("openid-core#3.1.3.7", "openid-core#10.1")
    async def test_identity_tokens_are_signed_with_rs256_and_name_their_key(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        header = header_of((await party.complete()).id_token)
        keys = {key["kid"]: key for key in (await provider.jwks())["keys"]}
        assert (header["alg"], keys[header["kid"]]["alg"]) == ("RS256", "RS256")


class NeverUnsigned:
    """Unsigned identity tokens are not on offer."""

    @pytest.mark.conformance("oidcc-idtoken-unsigned")
    @pytest.mark.rfc("openid-core#2", "8725#3.1")
    async def test_no_identity_token_is_unsigned(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        assert "none" not in provider.metadata["id_token_signing_alg_values_supported"]
        assert header_of((await party.complete()).id_token)["alg"] != "none"
