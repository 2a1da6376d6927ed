"""One completed FAPI flow: its tokens, each checked as the suite checks it in every module."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.certification import identity_token
from tests.certification.fapi2 import resource
from tests.certification.fapi2.client import FapiClient
from tests.certification.response import Response
from tests.driving.service import Answer

_A_YEAR = 365 * 86400
_TOKEN_LENGTH = 22
"""Characters of base64url that hold 128 bits (FAPI 2 §5.4.1)."""


@dataclass(kw_only=True)
class FapiFlow:
    """The results of a flow."""

    client: FapiClient
    response: Response
    code: str
    tokens: Answer = field(init=False)
    claims: dict[str, Any] = field(default_factory=dict)
    """Those of the identity token, if there is one."""

    @property
    def access_token(self) -> str:
        """The last one."""
        return str(self.tokens["access_token"])

    @property
    def refresh_token(self) -> str:
        """The last one; every request asks for offline_access."""
        return str(self.tokens["refresh_token"])

    async def check(self, tokens: Answer, *, is_refreshed: bool = False) -> None:
        """The token response is complete, and its token opens the protected resource."""
        assert tokens.status == 200, tokens.body
        assert tokens.headers["Content-Type"] == "application/json"
        assert tokens.headers["Cache-Control"] == "no-store"
        plan = self.client.plan
        assert tokens["token_type"] == ("DPoP" if plan.sender_constrain == "dpop" else "Bearer")
        assert 0 < tokens["expires_in"] <= _A_YEAR
        assert len(self.code) >= _TOKEN_LENGTH
        assert len(tokens["access_token"]) >= _TOKEN_LENGTH
        assert len(tokens["refresh_token"]) >= _TOKEN_LENGTH
        self.tokens = tokens
        if plan.is_openid:
            await self._check_identity_token(tokens["id_token"], is_refreshed=is_refreshed)
        else:
            assert "id_token" not in tokens.json
        assert await resource.admits(self.client, self.access_token)

    async def _check_identity_token(self, id_token: str, *, is_refreshed: bool) -> None:
        sent = self.response.request.get("nonce")
        self.claims = identity_token.checked(
            id_token,
            await self.client.provider.jwks(),
            client_id=self.client.client_id,
            nonces=(sent, None) if is_refreshed else (sent,),
            algorithm="ES256",
        )
        assert "s_hash" not in self.claims
        for name, value in (("at_hash", self.access_token), ("c_hash", self.code)):
            assert self.claims.get(name) in (None, identity_token.half_hash(value))


async def complete(
    client: FapiClient, *, proof: str | None = None, **changes: str | None
) -> FapiFlow:
    """A whole flow; a proof goes with the pushed request."""
    return await finish(client, await client.respond(proof=proof, **changes))


async def finish(client: FapiClient, response: Response) -> FapiFlow:
    """Check an answer, redeem its code, and take the token to the protected resource."""
    flow = FapiFlow(client=client, response=response, code=response.check_success()["code"])
    await flow.check(await client.redeem(flow.code))
    return flow
