"""Access tokens for the next API on behalf of a caller: by delegation, or by token exchange (RFC 8693)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import time
from typing import Any

from oauth_resource_server.blocking import perform
from oauth_resource_server.cache import BoundedCache, SingleFlight
from oauth_resource_server.caller import Caller
from oauth_resource_server.credentials import Credentials
from oauth_resource_server.http import fetch_json
from oauth_resource_server.issuer import OK, Issuer
from oauth_resource_server.jose import hash_of

DELEGATION = "delegation"
"""The extension grant of the token service; used where the issuer's metadata list it."""
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
CACHED_TOKENS = 10_000
MARGIN_SECONDS = 30
"""Before its end a token is not used again, so that it lasts for the call."""
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


class ExchangeRefused(Exception):
    """The issuer gives no token for this caller and scope."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(f"{error}: {description}")
        self.error = error
        """Such as `invalid_scope`, or `invalid_grant` where the caller's token has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnwardTokens:
    """Gets tokens, and keeps each until shortly before it or the caller's ends."""

    issuer: Issuer
    credentials: Credentials
    _tokens: BoundedCache[str] = field(default_factory=lambda: BoundedCache[str](CACHED_TOKENS))
    _flight: SingleFlight[str] = field(default_factory=SingleFlight[str])

    async def get(self, caller: Caller, scope: str, audience: str | None, grant: str | None) -> str:
        """Return a bearer token; raise ExchangeRefused or IssuerUnavailable."""
        key = (hash_of(caller.token), scope, audience, grant)
        token = self._tokens.get(key)
        if token is not None:
            return token

        async def fetch() -> str:
            token, expires_at = await self._fetch(caller, scope, audience, grant)
            ends = min(expires_at, caller.expires_at or expires_at)
            self._tokens.put(key, token, until=ends - MARGIN_SECONDS)
            return token

        return await perform(lambda: self._flight.run(key, fetch))

    async def _fetch(
        self, caller: Caller, scope: str, audience: str | None, grant: str | None
    ) -> tuple[str, float]:
        url, metadata = await self.issuer.endpoint("token_endpoint"), await self.issuer.metadata()
        if grant is None:
            supported = metadata.get("grant_types_supported", ())
            grant = DELEGATION if DELEGATION in supported and audience is None else TOKEN_EXCHANGE
        presented = (
            {"token": caller.token}
            if grant == DELEGATION
            else {"subject_token": caller.token, "subject_token_type": _ACCESS_TOKEN}
        )
        headers, form = self.credentials.authenticate(self.issuer.url)
        form = {"grant_type": grant, "scope": scope, **presented, **form}
        form |= {} if audience is None else {"audience": audience}
        began = time()
        status, answer = await fetch_json(self.issuer.http, url, headers=headers, form=form)
        return _read(status, answer, began)


def _read(status: int, answer: Mapping[str, Any], began: float) -> tuple[str, float]:
    """Return the token and the Unix time of its end; without `expires_in` it is used once."""
    token, seconds = answer.get("access_token"), answer.get("expires_in", 0)
    if status != OK or not isinstance(token, str):
        error, description = answer.get("error"), answer.get("error_description")
        raise ExchangeRefused(str(error or status), str(description or "no description"))
    if str(answer.get("token_type")).lower() != "bearer":
        raise ExchangeRefused("unsupported_token_type", "the token is not a bearer token")
    return token, began + (seconds if isinstance(seconds, int | float) else 0)
