"""A code works once, for its client and redirect URI."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from service.protocol.pkce import s256
from tests.certification.flow import Flow
from tests.certification.provider import Provider
from tests.certification.relying_party import RelyingParty
from tests.conftest import Clock

_SAME = ("iss", "sub", "aud", "auth_time", "azp")


class Codes:
    """Single use, client authentication, PKCE, and refresh."""

    @pytest.mark.conformance("oidcc-codereuse")
    @pytest.mark.rfc("6749#4.1.2", "openid-core#3.1.3.2")
    async def test_a_code_works_once(self, party: RelyingParty) -> None:
        flow = await party.complete()
        again = await party.redeem(flow.code or "")
        assert again.refusal == (400, "invalid_grant")
        assert again.headers["Content-Type"] == "application/json"

    @pytest.mark.conformance("oidcc-codereuse-30seconds")
    @pytest.mark.rfc("6749#4.1.2", "6750#3.1")
    async def test_a_replay_half_a_minute_later_revokes_the_access_token(
        self, party: RelyingParty, provider: Provider, clock: Clock
    ) -> None:
        flow = await party.complete()
        clock.forward(seconds=30)
        assert (await party.redeem(flow.code or "")).refusal == (400, "invalid_grant")
        assert (await provider.userinfo(flow.access_token)).status == 401

    @pytest.mark.conformance("oidcc-server-client-secret-post")
    @pytest.mark.rfc("openid-core#9", "6749#2.3.1")
    async def test_a_client_may_authenticate_in_the_body(self, posting_party: RelyingParty) -> None:
        await posting_party.complete()

    @pytest.mark.conformance("oidcc-ensure-request-with-valid-pkce-succeeds")
    @pytest.mark.rfc("7636#4.3", "7636#4.5")
    async def test_a_challenge_is_answered_by_its_verifier(self, party: RelyingParty) -> None:
        verifier = secrets.token_urlsafe(48)
        challenge: dict[str, Any] = {
            "code_challenge": s256(verifier),
            "code_challenge_method": "S256",
        }
        code = (await party.respond(**challenge)).check_success()["code"]
        assert (await party.redeem(code)).refusal == (400, "invalid_grant")
        code = (await party.respond(**challenge)).check_success()["code"]
        assert (await party.redeem(code, code_verifier=verifier)).status == 200

    @pytest.mark.conformance("oidcc-refresh-token")
    @pytest.mark.rfc("openid-core#11", "openid-core#12.2", "6749#6")
    async def test_a_refresh_token_gives_new_tokens_to_its_own_client_only(
        self, party: RelyingParty, second_party: RelyingParty, provider: Provider
    ) -> None:
        refresh_token = await refreshed(party, provider)
        assert (await second_party.refresh(refresh_token)).refusal == (400, "invalid_grant")
        others = await refreshed(second_party, provider)
        assert (await party.refresh(others)).refusal == (400, "invalid_grant")


async def refreshed(party: RelyingParty, provider: Provider) -> str:
    """A refresh token that was got by using one, as OIDC Core §12.2 says."""
    flow = await party.complete(scope="openid offline_access", prompt="consent")
    assert flow.tokens is not None
    answer = await party.refresh(flow.tokens["refresh_token"], scope="openid offline_access")
    after = Flow(party_id=party.client_id, response=flow.response, is_refreshed=True)
    await after.check_back(provider, answer)
    assert after.access_token != flow.access_token
    before, now = flow.claims or {}, after.claims or {}
    assert {name: before.get(name) for name in _SAME} == {name: now.get(name) for name in _SAME}
    return str(answer["refresh_token"])
