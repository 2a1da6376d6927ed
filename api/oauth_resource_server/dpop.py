"""DPoP proofs: a bound token counts only with a fresh proof that its key made for this request (RFC 9449 §4.3, §7)."""

from __future__ import annotations

import hmac
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from threading import Lock
from time import time
from typing import Any, Protocol, cast
from urllib.parse import urljoin, urlsplit

from oauth_resource_server import jose
from oauth_resource_server.blocking import perform
from oauth_resource_server.jose import BadJwt
from oauth_resource_server.refusals import InvalidDpopProof, UseDpopNonce
from oauth_resource_server.request import Request

LIFETIME = 60
"""Seconds after its `iat` for which a proof may be used."""
CLOCK_SKEW = 5
NONCE_SECONDS = 300
"""For which a nonce is given out; it is accepted for as long again."""
REMEMBERED_PROOFS = 100_000
_MAX_PROOF_LENGTH, _MAX_JTI_LENGTH = 8192, 256
_DEFAULT_PORTS = {"http": 80, "https": 443}
_ESCAPED = re.compile("%[0-9A-Fa-f]{2}")
_UNRESERVED = re.compile("[A-Za-z0-9._~-]")


class Replays(Protocol):
    """Remembers used proofs; one in a shared store serves several processes."""

    async def is_first_use(self, key: str, issued_at: float, seconds: int) -> bool:
        """Remember the key for so many seconds, atomically; whether it was new."""
        ...


class ReplaysInMemory:
    """Remembers the proofs that this process has seen, in bounded memory.

    What is forgotten to make room is never accepted again: proofs as old as a forgotten one are refused.
    """

    def __init__(self, size: int = REMEMBERED_PROOFS) -> None:
        self._size = size
        self._seen: set[str] = set()
        self._by_age: list[tuple[float, str]] = []
        self._forgotten = float("-inf")
        self._using = Lock()

    async def is_first_use(self, key: str, issued_at: float, seconds: int) -> bool:
        """As in Replays."""
        with self._using:
            too_old = time() - seconds
            while self._by_age and (
                len(self._by_age) >= self._size or self._by_age[0][0] < too_old
            ):
                self._forgotten, forgotten = heappop(self._by_age)
                self._seen.discard(forgotten)
            if issued_at <= self._forgotten or key in self._seen:
                return False
            self._seen.add(key)
            heappush(self._by_age, (issued_at, key))
            return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Proofs:
    """Verifies the proofs of requests to one API."""

    url: str
    """Public URL of the API; never taken from a request, so that a proof for another API does not count."""
    algorithms: Collection[str]
    nonce_secret: bytes | None = field(repr=False)
    replays: Replays

    async def verify(self, request: Request, token: str, thumbprint: str) -> None:
        """Raise InvalidDpopProof or UseDpopNonce unless the holder of the key sent this request with this token."""
        proofs = request.find_headers("dpop")
        if len(proofs) != 1:
            raise InvalidDpopProof(f"the request has {len(proofs)} DPoP headers, not one")
        try:
            signer, claims = read_proof(proofs[0], self.algorithms)
            issued_at, jti = self._check(claims, request, token)
        except BadJwt as error:
            raise InvalidDpopProof(f"the DPoP proof is refused: {error}") from error
        if not hmac.compare_digest(signer.encode(), thumbprint.encode()):
            raise InvalidDpopProof("the access token is bound to another key")
        if self.nonce_secret is not None and claims.get("nonce") not in self._nonces():
            refusal = UseDpopNonce("the DPoP proof needs the nonce of this answer")
            refusal.headers["DPoP-Nonce"] = self._nonces()[0]
            raise refusal
        key, seconds = jose.hash_of(f"{thumbprint}\n{jti}"), LIFETIME + 2 * CLOCK_SKEW
        memory = self.replays.is_first_use
        if not await (
            memory(key, issued_at, seconds)
            if isinstance(self.replays, ReplaysInMemory)
            else perform(lambda: memory(key, issued_at, seconds))
        ):
            raise InvalidDpopProof("the DPoP proof was used before")

    def _check(self, claims: dict[str, Any], request: Request, token: str) -> tuple[float, str]:
        """Return `iat` and `jti` of a proof that was made just now for this request and token."""
        if claims.get("htm") != request.method:
            raise BadJwt("htm is not the method of the request")
        named = claims.get("htu")
        if not isinstance(named, str) or normalize(named) != normalize(self._url_of(request)):
            raise BadJwt("htu is not the URL of the request")
        issued_at, now = jose.read_time(claims, "iat"), time()
        if issued_at is None or not now - LIFETIME - CLOCK_SKEW < issued_at <= now + CLOCK_SKEW:
            raise BadJwt("iat is missing, too long ago or in the future")
        if claims.get("ath") != jose.hash_of(token):
            raise BadJwt("ath is not the hash of the access token")
        jti = claims.get("jti")
        if not isinstance(jti, str) or not 0 < len(jti) <= _MAX_JTI_LENGTH:
            raise BadJwt(f"jti is not a text of 1 to {_MAX_JTI_LENGTH} characters")
        return issued_at, jti

    def _url_of(self, request: Request) -> str:
        """Put back a path prefix that a proxy has removed."""
        parts = urlsplit(self.url)
        prefix = parts.path.rstrip("/")
        is_whole = request.path == prefix or request.path.startswith(f"{prefix}/")
        return f"{parts.scheme}://{parts.netloc}{'' if is_whole else prefix}{request.path}"

    def _nonces(self) -> list[str]:
        """Return the nonce to give out and the one before, the same ones in each process with this secret (RFC 9449 §9)."""
        step = int(time()) // NONCE_SECONDS
        secret = self.nonce_secret or b""
        return [
            jose.base64url(hmac.digest(secret, str(each).encode(), "sha256"))
            for each in (step, step - 1)
        ]


def read_proof(proof: str, algorithms: Collection[str]) -> tuple[str, dict[str, Any]]:
    """Return the thumbprint of the key in a proof's header (RFC 7638), and the claims that the key has signed."""
    if len(proof) > _MAX_PROOF_LENGTH:
        raise BadJwt("it is too long")
    alg, thumbprint, key = _read_key(proof.partition(".")[0], frozenset(algorithms))
    return thumbprint, jose.verify(proof, alg, key)


@lru_cache(maxsize=1000)  # a client sends the same header with every proof
def _read_key(header: str, algorithms: frozenset[str]) -> tuple[str, str, Any]:
    members = jose.read_header(f"{header}..", algorithms=algorithms, types={"dpop+jwt"})
    jwk = members.get("jwk")
    key = None
    if isinstance(jwk, dict):
        key = jose.read_key(cast("dict[str, Any]", jwk), members["alg"])
    if key is None:
        raise BadJwt("its jwk is not a public key for its algorithm")
    return members["alg"], key.thumbprint(), key


def normalize(url: str) -> str | None:
    """Return a URL without query and fragment in its normal form, None if it has none (RFC 3986 §6.2.2, §6.2.3)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host or "@" in parts.netloc:
        return None
    authority = f"[{host}]" if ":" in host else host
    if port not in {None, _DEFAULT_PORTS.get(parts.scheme)}:
        authority += f":{port}"
    path = _ESCAPED.sub(_unescape, parts.path) or "/"
    # Without the dot a path that begins with two slashes would be read as another host (RFC 3986 §4.2).
    return urljoin(f"{parts.scheme}://{authority}", f"/.{path}")


def _unescape(escaped: re.Match[str]) -> str:
    character = chr(int(escaped[0][1:], 16))
    return character if _UNRESERVED.fullmatch(character) else escaped[0].upper()
