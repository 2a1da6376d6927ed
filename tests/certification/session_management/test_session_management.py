"""Session Management OP (oidcc-session-management-certification-test-plan)."""

from __future__ import annotations

from hashlib import sha256

import pytest

from tests.certification.plan import Plan
from tests.certification.provider import Provider
from tests.certification.relying_party import RelyingParty
from tests.certification.rules.logout import SignedIn, check_published


class TestSessionManagement:
    """A frame of the provider's tells a client when the login has changed."""

    plan = Plan(client_id="session-management", response_type="code")

    @pytest.mark.conformance("oidcc-session-management-discovery-endpoint-verification")
    @pytest.mark.rfc("openid-session#3.3", "openid-rpinitiated#2.1")
    def test_the_frame_is_published(self, provider: Provider) -> None:
        check_published(provider)
        assert provider.metadata["check_session_iframe"].startswith("https://")

    @pytest.mark.conformance("oidcc-session-management-rp-initiated-logout")
    @pytest.mark.rfc("openid-session#2", "openid-session#3.1", "openid-session#3.2")
    async def test_a_logout_changes_what_the_frame_says(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        flow = await party.complete()
        signed_in = SignedIn(party=party, flow=flow)
        state = flow.response.parameters["session_state"]
        assert frame_says(party, state) == "unchanged"
        request = signed_in.request()
        signed_in.check_goodbye(await signed_in.end(request), request)
        assert frame_says(party, state) == "changed"

    @pytest.mark.conformance("oidcc-session-management-rp-initiated-logout")
    @pytest.mark.rfc("openid-session#3.2")
    async def test_any_site_may_frame_it(self, party: RelyingParty, provider: Provider) -> None:
        page = await party.browser.get(provider.path("check_session_iframe"))
        assert (page.status, page.headers.get("X-Frame-Options")) == (200, None)
        assert "frame-ancestors 'none'" not in page.headers["Content-Security-Policy"]
        assert "postMessage" in page.text


def frame_says(party: RelyingParty, session_state: str) -> str:
    """The answer of the script in the frame, by the cookies that scripts can read."""
    salt = session_state.rpartition(".")[2]
    readable = [each for each in party.browser.session.cookie_jar if not each["httponly"]]
    made = {hashed(party, each.value, salt) for each in readable}
    return "unchanged" if session_state in made else "changed"


def hashed(party: RelyingParty, browser_state: str, salt: str) -> str:
    """As OpenID Connect Session Management §3.2 has it."""
    made_of = f"{party.client_id} {party.provider.suite.base} {browser_state} {salt}"
    return f"{sha256(made_of.encode()).hexdigest()}.{salt}"
