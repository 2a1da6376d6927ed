"""Front-Channel Logout OP (oidcc-frontchannel-rp-initiated-logout-certification-test-plan)."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.certification.html import attributes_in
from tests.certification.plan import Plan
from tests.certification.provider import ALIAS, ISSUER, Provider
from tests.certification.relying_party import RelyingParty
from tests.certification.rules.logout import SignedIn, check_published


class TestFrontChannelLogout:
    """Clients learn of the logout by frames in the person's browser."""

    plan = Plan(client_id="front-channel-logout", response_type="code")

    @pytest.mark.conformance("oidcc-frontchannel-logout-discovery-endpoint-verification")
    @pytest.mark.rfc("openid-frontchannel#3", "openid-rpinitiated#2.1")
    def test_front_channel_logout_is_announced(self, provider: Provider) -> None:
        check_published(
            provider, "frontchannel_logout_supported", "frontchannel_logout_session_supported"
        )

    @pytest.mark.conformance("oidcc-frontchannel-rp-initiated-logout")
    @pytest.mark.rfc("openid-frontchannel#2", "openid-frontchannel#3", "openid-rpinitiated#3")
    async def test_a_frame_tells_the_client_before_the_browser_goes_on(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        signed_in = SignedIn(party=party, flow=await party.complete())
        request = signed_in.request()
        page = await signed_in.end(request)
        (frame,) = attributes_in(page.text, "iframe", "src")
        address = urlsplit(frame)
        told = f"{provider.suite.base}{ALIAS}/frontchannel_logout"
        assert address._replace(query="").geturl() == told
        assert dict(parse_qsl(address.query)) == {"iss": ISSUER, "sid": signed_in.claims["sid"]}
        framed = re.search(r"frame-src ([^;]*)", page.headers["Content-Security-Policy"])
        assert framed is not None
        assert provider.suite.base in framed[1]
        signed_in.check_goodbye(page, request)
        await signed_in.check_signed_out()
