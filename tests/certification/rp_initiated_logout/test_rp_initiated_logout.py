"""RP-Initiated Logout OP (oidcc-rp-initiated-logout-certification-test-plan)."""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64encode

import pytest
import pytest_asyncio
from joserfc import jwt
from joserfc.jwk import OctKey

from tests.certification.plan import Plan
from tests.certification.provider import ISSUER, Provider
from tests.certification.relying_party import RelyingParty
from tests.certification.rules.logout import SignedIn, check_published, check_stays


@pytest_asyncio.fixture(loop_scope="session")
async def signed_in(party: RelyingParty) -> SignedIn:
    """Alice, at the client."""
    return SignedIn(party=party, flow=await party.complete())


@pytest.mark.rfc("openid-rpinitiated#2", "openid-rpinitiated#3")
class TestRpInitiatedLogout:
    """A logout leads to the right page, and asks the right person."""

    plan = Plan(client_id="rp-initiated-logout", response_type="code")

    @pytest.mark.conformance("oidcc-rp-initiated-logout-discovery-endpoint-verification")
    @pytest.mark.rfc("openid-rpinitiated#2.1")
    def test_the_endpoint_is_published(self, provider: Provider) -> None:
        check_published(provider)

    @pytest.mark.conformance("oidcc-rp-initiated-logout")
    async def test_a_logout_leads_back_with_its_state(self, signed_in: SignedIn) -> None:
        request = signed_in.request()
        signed_in.check_goodbye(await signed_in.end(request), request)
        await signed_in.check_signed_out()

    @pytest.mark.conformance("oidcc-rp-initiated-logout-no-state")
    async def test_a_response_without_a_requested_state_has_no_state(
        self, signed_in: SignedIn
    ) -> None:
        request = signed_in.request(state=None)
        signed_in.check_goodbye(await signed_in.end(request), request)
        await signed_in.check_signed_out()

    @pytest.mark.conformance("oidcc-rp-initiated-logout-bad-id-token-hint")
    async def test_a_hint_that_the_provider_did_not_sign_leads_nowhere(
        self, signed_in: SignedIn
    ) -> None:
        party, now = signed_in.party, int(time.time())
        forged = {"iss": party.client_id, "aud": ISSUER, "sub": "SubjectID", "nonce": "flibble"}
        key = OctKey.import_key(party.client_secret)
        hint = jwt.encode({"alg": "HS256"}, forged | {"iat": now, "exp": now + 300}, key)
        check_stays(await signed_in.end(signed_in.request(id_token_hint=hint)))

    @pytest.mark.conformance("oidcc-rp-initiated-logout-modified-id-token-hint")
    @pytest.mark.rfc("8725#3.1")
    async def test_a_hint_whose_signature_was_taken_away_leads_nowhere(
        self, signed_in: SignedIn
    ) -> None:
        header = urlsafe_b64encode(json.dumps({"alg": "none"}).encode()).rstrip(b"=").decode()
        hint = f"{header}.{signed_in.flow.id_token.split('.')[1]}."
        check_stays(await signed_in.end(signed_in.request(id_token_hint=hint)))

    @pytest.mark.conformance("oidcc-rp-initiated-logout-no-id-token-hint")
    async def test_without_a_hint_it_leads_nowhere(self, signed_in: SignedIn) -> None:
        check_stays(await signed_in.end(signed_in.request(id_token_hint=None)))

    @pytest.mark.conformance("oidcc-rp-initiated-logout-bad-post-logout-redirect-uri")
    async def test_an_unregistered_uri_is_not_gone_to(self, signed_in: SignedIn) -> None:
        bad = signed_in.goodbye.replace("/post_logout", "/bad_post_logout")
        check_stays(await signed_in.end(signed_in.request(post_logout_redirect_uri=bad)))

    @pytest.mark.conformance("oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri")
    async def test_a_uri_with_a_query_added_is_another_uri(self, signed_in: SignedIn) -> None:
        added = signed_in.goodbye + "?foo=bar"
        check_stays(await signed_in.end(signed_in.request(post_logout_redirect_uri=added)))

    @pytest.mark.conformance("oidcc-rp-initiated-logout-no-params")
    async def test_without_parameters_the_person_is_signed_out(self, signed_in: SignedIn) -> None:
        check_stays(await signed_in.end({}))
        await signed_in.check_signed_out()

    @pytest.mark.conformance("oidcc-rp-initiated-logout-no-post-logout-redirect-uri")
    async def test_without_a_uri_the_person_is_signed_out(self, signed_in: SignedIn) -> None:
        check_stays(await signed_in.end(signed_in.request(post_logout_redirect_uri=None)))
        await signed_in.check_signed_out()

    @pytest.mark.conformance("oidcc-rp-initiated-logout-only-state")
    async def test_a_state_alone_is_of_no_use(self, signed_in: SignedIn) -> None:
        check_stays(await signed_in.end({"state": "the-state"}))
        await signed_in.check_signed_out()
