"""Requests to userinfo (OIDC Core §5.3.1)."""

from __future__ import annotations

import pytest

from tests.certification.flow import Flow
from tests.certification.provider import Provider
from tests.certification.relying_party import RelyingParty
from tests.driving.service import Answer


def check_answer(answer: Answer, flow: Flow) -> None:
    """JSON about the person whom the identity token names (OIDC Core §5.3.2)."""
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.json == {"sub": (flow.claims or {})["sub"]}


class Userinfo:
    """By header or body, by GET or POST."""

    @pytest.mark.conformance("oidcc-userinfo-get")
    @pytest.mark.rfc("openid-core#5.3.1", "openid-core#5.3.2", "6750#2.1")
    async def test_userinfo_answers_a_get(self, party: RelyingParty, provider: Provider) -> None:
        flow = await party.complete()
        check_answer(await provider.userinfo(flow.access_token), flow)

    @pytest.mark.conformance("oidcc-userinfo-post-header")
    @pytest.mark.rfc("openid-core#5.3.1", "6750#2.1")
    async def test_userinfo_answers_a_post_with_a_header(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        flow = await party.complete()
        check_answer(await provider.userinfo(flow.access_token, "POST"), flow)

    @pytest.mark.conformance("oidcc-userinfo-post-body")
    @pytest.mark.rfc("openid-core#5.3.1", "6750#2.2")
    async def test_userinfo_answers_a_post_with_the_token_in_its_body(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        flow = await party.complete()
        path = provider.path("userinfo_endpoint")
        answer = await provider.service.post(path, access_token=flow.access_token)
        check_answer(answer, flow)
