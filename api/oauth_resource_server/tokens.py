"""Reads access tokens: JWTs by the issuer's keys (RFC 9068 §4), others by introspection (RFC 7662)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from time import time
from types import MappingProxyType
from typing import Any, cast

from oauth_resource_server import jose
from oauth_resource_server.blocking import perform
from oauth_resource_server.cache import BoundedCache, SingleFlight
from oauth_resource_server.credentials import Credentials
from oauth_resource_server.http import fetch_json, log
from oauth_resource_server.issuer import OK, Issuer, Keys
from oauth_resource_server.jose import BadJwt
from oauth_resource_server.refusals import InvalidToken, IssuerUnavailable

CACHED_TOKENS = 10_000
CLOCK_SKEW = 5
"""Seconds that the issuer's clock may be ahead of ours; an expired token has expired."""
_OTHER_TOKENS = frozenset({"refresh", "offline", "id"})  # `typ` in answers of Keycloak's

Claims = Mapping[str, Any]


class JwtTokens:
    """Verifies JWTs, and remembers those that it has verified until they expire or the keys change."""

    def __init__(
        self,
        issuer: Issuer,
        audience: frozenset[str],
        algorithms: Collection[str],
        types: Collection[str],
    ) -> None:
        self._issuer, self._audience = issuer, audience
        self._algorithms = jose.check_algorithms(algorithms)
        self._types = frozenset(typ.lower().removeprefix("application/") for typ in types)
        self._verified = BoundedCache[Claims](CACHED_TOKENS)
        self._keys = Keys(issuer, self._verified.clear)

    async def read(self, token: str, digest: str) -> Claims:
        """Return the claims of an access token that is valid now; raise InvalidToken or IssuerUnavailable."""
        await self._keys.refresh_if_due()
        claims = self._verified.get(digest)
        if claims is not None:
            return claims
        try:
            claims = MappingProxyType(await self._verify(token))
        except BadJwt as error:
            raise InvalidToken(f"the access token is refused: {error}") from error
        self._verified.put(digest, claims, until=claims["exp"])
        return claims

    async def _verify(self, token: str) -> dict[str, Any]:
        header = jose.read_header(token, algorithms=self._algorithms, types=self._types)
        kid, alg = header.get("kid"), header["alg"]
        if kid is not None and not isinstance(kid, str):
            raise BadJwt("its key id is not a text")
        key = await self._keys.find(kid, alg)
        if key is None:
            raise BadJwt("the issuer has no such key for its algorithm")
        claims = jose.verify(token, alg, key)
        if claims.get("iss") != self._issuer.url:
            raise BadJwt("it is from another issuer")
        check_audience(claims, self._audience)
        check_times(claims)
        if "exp" not in claims or not isinstance(claims.get("sub"), str):
            raise BadJwt("its claim exp or sub is missing")
        return claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Introspection:
    """Asks the issuer, and keeps its positive answers for a while."""

    issuer: Issuer
    audience: frozenset[str]
    credentials: Credentials
    seconds: float
    """For which an answer is used again, and a revocation may go unnoticed."""
    _answers: BoundedCache[Claims] = field(
        default_factory=lambda: BoundedCache[Claims](CACHED_TOKENS)
    )
    _flight: SingleFlight[Claims] = field(default_factory=SingleFlight[Claims])

    async def read(self, token: str, digest: str) -> Claims:
        """Return the answer about an active access token for this API; raise InvalidToken or IssuerUnavailable."""
        claims = self._answers.get(digest)
        if claims is None:
            claims = await perform(lambda: self._flight.run(digest, lambda: self._ask(token)))
            expires = claims.get("exp", float("inf"))
            if self.seconds:
                self._answers.put(digest, claims, until=min(time() + self.seconds, expires))
        return claims

    async def _ask(self, token: str) -> Claims:
        url = await self.issuer.endpoint("introspection_endpoint")
        headers, form = self.credentials.authenticate(self.issuer.url)
        sent = {"token": token, "token_type_hint": "access_token", **form}
        status, answer = await fetch_json(self.issuer.http, url, headers=headers, form=sent)
        if status != OK or not isinstance(answer.get("active"), bool):
            log.error("%s answers %d %s", url, status, answer.get("error", ""))
            raise IssuerUnavailable("the issuer cannot be asked about the token")
        if not answer["active"]:
            raise InvalidToken("the access token is not active")
        try:
            self._check(answer)
        except BadJwt as error:
            raise InvalidToken(f"the access token is refused: {error}") from error
        return MappingProxyType(dict(answer))

    def _check(self, answer: Claims) -> None:
        if answer.get("iss", self.issuer.url) != self.issuer.url:
            raise BadJwt("it is from another issuer")
        if str(answer.get("typ")).lower() in _OTHER_TOKENS:
            raise BadJwt("it is no access token")
        if str(answer.get("token_type", "bearer")).lower() not in {"bearer", "dpop"}:
            raise BadJwt("it is no access token")
        check_audience(answer, self.audience)
        check_times(answer)


def check_audience(claims: Claims, audience: frozenset[str]) -> None:
    """Raise BadJwt unless the token is addressed to this API (RFC 9068 §4)."""
    named: object = claims.get("aud")
    values = cast("list[object]", named) if isinstance(named, list) else [named]
    if not any(isinstance(value, str) and value in audience for value in values):
        raise BadJwt("it is not for this API")


def check_times(claims: Claims) -> None:
    """Raise BadJwt if the token has expired, or is not valid yet (RFC 7519 §4.1.4, §4.1.5)."""
    now = time()
    expires, begins = jose.read_time(claims, "exp"), jose.read_time(claims, "nbf")
    if expires is not None and expires <= now:
        raise BadJwt("it has expired")
    if begins is not None and begins > now + CLOCK_SKEW:
        raise BadJwt("it is not valid yet")
