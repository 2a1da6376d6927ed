"""One completed flow: the tokens that it gave, each checked as the suite checks it in every module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.certification import identity_token
from tests.certification.provider import Provider
from tests.certification.response import Response
from tests.driving.service import Answer

_A_YEAR = 365 * 86400
_CODE_LENGTH = 22
"""Characters of base64url that hold 128 bits (RFC 6749 §10.10)."""


@dataclass
class Flow:
    """The results of a flow: in front (authorize endpoint) and at the back (token endpoint)."""

    party_id: str
    response: Response
    algorithm: str = "RS256"
    code: str | None = None
    id_token: str = ""
    claims: dict[str, Any] | None = None
    """The identity token's that came last."""
    front_claims: dict[str, Any] | None = None
    """Those of the authorize endpoint's identity token."""
    access_token: str = ""
    tokens: Answer | None = None
    is_refreshed: bool = False
    """Then the nonce may be left out (OIDC Core §12.2)."""

    @property
    def nonces(self) -> tuple[str | None, ...]:
        """The nonce that the ID tokens may have."""
        sent = self.response.request.get("nonce")
        return (sent, None) if self.is_refreshed else (sent,)

    async def check_front(self, provider: Provider) -> None:
        """The response of the authorize endpoint is complete (OIDC Core §3.2.2.5, §3.3.2.5)."""
        answer = self.response.check_success()
        self.code = answer.get("code")
        assert self.code is None or len(self.code) >= _CODE_LENGTH
        if "access_token" in answer:
            assert answer["token_type"].lower() == "bearer"
            await self._use(provider, answer["access_token"])
        if "id_token" in answer:
            self.front_claims = await self._read(provider, answer["id_token"])
            for name, bound in (("at_hash", "access_token"), ("c_hash", "code")):
                value = answer.get(bound)
                hashed = None if value is None else identity_token.half_hash(value)
                assert self.front_claims.get(name) == hashed

    async def check_back(self, provider: Provider, tokens: Answer) -> None:
        """The response of the token endpoint is complete (OIDC Core §3.1.3.3)."""
        assert tokens.status == 200, tokens.body
        assert tokens.headers["Content-Type"].startswith("application/json")
        assert tokens.headers["Cache-Control"] == "no-store"
        assert tokens["token_type"].lower() == "bearer"
        assert 0 < tokens["expires_in"] <= _A_YEAR
        self.tokens = tokens
        await self._use(provider, tokens["access_token"])
        claims = await self._read(provider, tokens["id_token"])
        for name, value in (("at_hash", self.access_token), ("c_hash", self.code or "")):
            assert claims.get(name) in (None, identity_token.half_hash(value))
        assert self.front_claims is None or self.front_claims["sub"] == claims["sub"]

    async def _use(self, provider: Provider, access_token: str) -> None:
        self.access_token = access_token
        assert (await provider.userinfo(access_token)).status == 200

    async def _read(self, provider: Provider, id_token: str) -> dict[str, Any]:
        self.id_token = id_token
        self.claims = identity_token.checked(
            id_token,
            await provider.jwks(),
            client_id=self.party_id,
            nonces=self.nonces,
            algorithm=self.algorithm,
        )
        return self.claims
