"""For whom a code is good, and how long; and what becomes of refresh tokens."""

from __future__ import annotations

import pytest

from tests.certification.fapi2 import resource
from tests.certification.fapi2.client import FapiClient
from tests.certification.fapi2.flow import FapiFlow, complete
from tests.certification.fapi2.rules.marks import mirrors
from tests.certification.provider import ISSUER
from tests.conftest import Clock
from tests.driving.dpop import DpopKey

_SAME = ("iss", "sub", "aud", "auth_time")


class Codes:
    """Single use, by one client, within a minute."""

    @mirrors("ensure-authorization-code-is-bound-to-client")
    @pytest.mark.rfc("6749#4.1.3", "fapi2#5.3.2.1")
    async def test_a_code_is_refused_to_another_client(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        answer = await second_client.redeem(
            await client.code(),
            redirect_uri=client.redirect_uri,
            code_verifier=client.verifier,
        )
        assert answer.refusal == (400, "invalid_grant")

    @mirrors("attempt-reuse-authorization-code-after-one-second")
    @pytest.mark.rfc("6749#4.1.2", "fapi2#5.3.2.2")
    async def test_a_reused_code_revokes_its_tokens(self, client: FapiClient, clock: Clock) -> None:
        flow = await complete(client)
        clock.forward(seconds=1)
        assert (await client.redeem(flow.code)).refusal == (400, "invalid_grant")
        assert not await resource.admits(client, flow.access_token)

    @mirrors("ensure-token-endpoint-fails-with-expired-auth-code")
    @pytest.mark.rfc("fapi2#5.3.2.1")
    async def test_a_code_expires_within_a_minute(self, client: FapiClient, clock: Clock) -> None:
        code = await client.code()
        clock.forward(seconds=62)
        assert (await client.redeem(code)).refusal == (400, "invalid_grant")


class RefreshTokens:
    """Not rotated, and bound to the client."""

    @mirrors("refresh-token")
    @pytest.mark.rfc("6749#6", "fapi2#5.3.2.1", "openid-core#12.2")
    @pytest.mark.parametrize("which", ["client", "second_client"])
    async def test_a_refresh_token_is_not_rotated_and_may_be_used_with_another_key(
        self, client: FapiClient, second_client: FapiClient, which: str
    ) -> None:
        asking = client if which == "client" else second_client
        flow = await complete(asking, prompt="consent")
        asking.dpop = DpopKey(ISSUER)
        after = FapiFlow(client=asking, response=flow.response, code=flow.code)
        tokens = await asking.refresh(flow.refresh_token, scope=asking.plan.scope)
        await after.check(tokens, is_refreshed=True)
        assert after.access_token != flow.access_token
        assert after.refresh_token == flow.refresh_token
        same = [{name: one.claims.get(name) for name in _SAME} for one in (flow, after)]
        assert same[0] == same[1]

    @mirrors("refresh-token")
    @pytest.mark.rfc("6749#6", "6749#10.4")
    async def test_a_refresh_token_is_refused_to_another_client(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        flow = await complete(second_client, prompt="consent")
        assert (await client.refresh(flow.refresh_token)).refusal == (400, "invalid_grant")
