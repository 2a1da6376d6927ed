"""Back-Channel Logout OP (oidcc-backchannel-rp-initiated-logout-certification-test-plan)."""

from __future__ import annotations

import asyncio
import time

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.certification.plan import Plan
from tests.certification.provider import ALIAS, ISSUER, Provider
from tests.certification.relying_party import RelyingParty
from tests.certification.rules.logout import SignedIn, check_published
from tests.driving.service import claims_in

PATH = f"{ALIAS}/backchannel_logout"
EVENT = "http://schemas.openid.net/event/backchannel-logout"


class TestBackChannelLogout:
    """Clients get logout tokens without the person's browser."""

    plan = Plan(client_id="back-channel-logout", response_type="code")

    @pytest.mark.conformance("oidcc-backchannel-logout-discovery-endpoint-verification")
    @pytest.mark.rfc("openid-backchannel#2.1", "openid-rpinitiated#2.1")
    def test_back_channel_logout_is_announced(self, provider: Provider) -> None:
        check_published(
            provider, "backchannel_logout_supported", "backchannel_logout_session_supported"
        )

    @pytest.mark.conformance("oidcc-backchannel-rp-initiated-logout")
    @pytest.mark.rfc("openid-backchannel#2.4", "openid-backchannel#2.5", "openid-rpinitiated#3")
    async def test_a_logout_token_tells_the_client(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        signed_in = SignedIn(party=party, flow=await party.complete())
        request = signed_in.request()
        signed_in.check_goodbye(await signed_in.end(request), request)
        form = await told(provider, signed_in.claims["sid"])
        assert form.keys() == {"logout_token"}
        await check_logout_token(form["logout_token"], signed_in)
        await signed_in.check_signed_out()


async def told(provider: Provider, sid: str) -> dict[str, str]:
    """The logout token that the suite received for this session, within a few seconds."""
    for _ in range(2400):
        for form in provider.suite.posted_to(PATH):
            if claims_in(form["logout_token"])["sid"] == sid:
                return form
        await asyncio.sleep(0.05)
    raise AssertionError("the client was not told")


async def check_logout_token(logout_token: str, signed_in: SignedIn) -> None:
    """Signed as identity tokens are, for this client, about this person's session, and no identity token."""
    party = signed_in.party
    keys = KeySet.import_key_set({"keys": (await party.provider.jwks())["keys"]})
    token = jwt.decode(logout_token, keys, algorithms=["RS256"])
    claims = token.claims
    assert (claims["iss"], claims["aud"]) == (ISSUER, party.client_id)
    assert abs(claims["iat"] - time.time()) < 60
    assert claims["jti"]
    assert claims["events"] == {EVENT: {}}
    assert (claims["sub"], claims["sid"]) == (signed_in.claims["sub"], signed_in.claims["sid"])
    assert "nonce" not in claims
    assert token.header["typ"] == "logout+jwt"
