"""DPoP: with a request its sender signs a JWT, which proves that it holds the key that tokens are bound to (RFC 9449)."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, cast

import msgspec

from service.clock import clock
from service.keys.algorithms import PRIVATE_MEMBERS, SIGNING_ALGORITHMS
from service.keys.foreign_keys import ForeignKeys, accepted_header, check_times, time_in
from service.keys.jose import JwtRefused, Key, claims_signed_by
from service.keys.keyring import KeyRing
from service.model import marks
from service.model.authorization import Confirmation
from service.model.client import Client
from service.model.handle import digest
from service.protocol.errors import InvalidDpopProof, UseDpopNonce
from service.protocol.octets import base64url
from service.protocol.path_aliases import NO_ALIASES, PathAliases
from service.protocol.uris import normalize_url
from service.store.stores import Stores

MAX_PROOF_LENGTH = 8192
MAX_JTI_LENGTH = 256

NONCE_HEADER = "DPoP-Nonce"

_PURPOSE_OF_NONCES = b"DPoP nonce"
_TYP = frozenset({"dpop+jwt"})


class Nonces(marks.Confidential, frozen=True, kw_only=True):
    """A nonce is the HMAC of a period, by a key that is made of a signing key, which all replicas have."""

    keys: KeyRing
    lifetime: int
    """Seconds of a period; a nonce is accepted in its own and the next one."""
    always: bool
    """Whether every client needs a nonce, and not only those that are registered so."""
    _secrets: Annotated[dict[str, bytes], marks.SECRET] = msgspec.field(
        default_factory=dict[str, bytes]
    )

    def are_needed_by(self, client: Client | None) -> bool:
        """Return whether the client's proofs need a nonce; None for a client that is not known."""
        return self.always or (client is not None and client.dpop_nonce_required)

    def header(self) -> dict[str, str]:
        """Return the header with the nonce for the next proof."""
        return {NONCE_HEADER: self._make(self.keys.signing_key(), clock() // self.lifetime)}

    def accept(self, nonce: object) -> bool:
        """Return whether a replica made the nonce in this period, the one before, or by a clock ahead the next."""
        if not isinstance(nonce, str) or not nonce.isascii():
            return False
        now, keys = clock() // self.lifetime, self.keys.private_keys
        made = (self._make(key, period) for period in (now, now - 1, now + 1) for key in keys)
        return any(hmac.compare_digest(nonce, each) for each in made)

    def _make(self, key: Key, period: int) -> str:
        secret = self._secrets.get(key.kid)
        if secret is None:
            secret = self._secrets[key.kid] = key.derive_secret(_PURPOSE_OF_NONCES)
        return base64url(hmac.digest(secret, str(period).encode(), "sha256"))


class ProofRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The request that a proof has to fit."""

    method: str
    path: str
    url: str | None
    """The whole URL, of a request that a proxy asks about; None for one to this service itself."""
    proofs: tuple[str, ...]
    """The `DPoP` headers."""
    needs_nonce: bool
    algorithms: Collection[str]
    """Those that the profile of the client allows."""
    access_token: str | None
    """The token that is presented with the proof at a protected resource; None at another endpoint."""


class DpopProofs(msgspec.Struct, frozen=True, kw_only=True):
    """Verifies proofs; each counts once in all replicas."""

    base_urls: tuple[str, ...]
    """Those to which the paths of endpoints are added: a proof names one of them, whatever the Host header says."""
    aliases: PathAliases = NO_ALIASES
    lifetime: int
    """Seconds for which a proof may be used."""
    clock_skew: int
    nonces: Nonces
    stores: Stores

    @property
    def remembered(self) -> int:
        """Seconds for which a proof is remembered, because it could be used as long (RFC 9449 §11.1)."""
        return self.lifetime + 2 * self.clock_skew

    async def verify(self, request: ProofRequest) -> Confirmation:
        """Return the key that the sender holds; raise InvalidDpopProof or UseDpopNonce (RFC 9449 §4.3)."""
        if len(request.proofs) != 1:
            number = "no" if not request.proofs else "more than one"
            raise InvalidDpopProof(f"the request has {number} DPoP header")
        try:
            thumbprint, claims = read_proof(request.proofs[0], request.algorithms)
            jti = self._check_claims(claims, request)
        except JwtRefused as refused:
            raise InvalidDpopProof(f"the DPoP proof is refused: {refused}") from refused
        if request.needs_nonce and not self.nonces.accept(claims.get("nonce")):
            raise UseDpopNonce("the DPoP proof needs the nonce of this answer")
        await self._use_up(thumbprint, jti)
        return Confirmation("jkt", thumbprint)

    def _check_claims(self, claims: Mapping[str, object], request: ProofRequest) -> str:
        """Return the `jti` of a proof that was made for this request, and not long ago."""
        if claims.get("htm") != request.method:
            raise JwtRefused("htm is not the method of the request")
        if not self._is_addressed(claims.get("htu"), request):
            raise JwtRefused("htu is not the URL of the endpoint")
        now, issued, jti = clock(), time_in(claims, "iat"), claims.get("jti")
        if issued is None:
            raise JwtRefused("iat is missing")
        if issued <= now - self.lifetime - self.clock_skew:
            raise JwtRefused("iat is too long ago")
        check_times(claims, now=now, clock_skew=self.clock_skew)
        if not isinstance(jti, str) or not 0 < len(jti) <= MAX_JTI_LENGTH:
            raise JwtRefused(f"jti is not a text of 1 to {MAX_JTI_LENGTH} characters")
        token = request.access_token
        if token is not None and claims.get("ath") != base64url(sha256(token.encode()).digest()):
            raise JwtRefused("ath is not the hash of the access token")
        return jti

    def _is_addressed(self, htu: object, request: ProofRequest) -> bool:
        paths = self.aliases.paths_of(request.path)
        urls = [base + path for base in self.base_urls for path in paths]
        if request.url is not None:
            urls = [request.url]
        if htu in urls:
            return True
        # What a proxy tells need not be a URL, either: two that are none are not the same.
        sent = _comparable_url(htu) if isinstance(htu, str) else None
        return sent is not None and sent in map(_comparable_url, urls)

    async def _use_up(self, thumbprint: str, jti: str) -> None:
        """Remember the proof in all replicas."""
        key, used = digest(f"{thumbprint}\n{jti}"), self.stores.used_proofs
        if not await self.stores.is_first_use(used, key, ttl=self.remembered):
            raise InvalidDpopProof("the DPoP proof has been used before")


def read_proof(
    proof: str, algorithms: Collection[str] = SIGNING_ALGORITHMS
) -> tuple[str, Mapping[str, object]]:
    """Return the thumbprint of the key in a proof's header, and the claims that the key has signed."""
    if len(proof) > MAX_PROOF_LENGTH:
        raise JwtRefused(f"it is longer than {MAX_PROOF_LENGTH} characters")
    thumbprint, key = _key_in(proof.partition(".")[0])
    if key.alg not in algorithms:
        raise JwtRefused(
            f"the profile of the client allows only {', '.join(sorted(algorithms))} for alg"
        )
    return thumbprint, claims_signed_by(key, proof)


@lru_cache(maxsize=1000)  # a client sends the same header with every proof
def _key_in(header: str) -> tuple[str, Key]:
    """Return the public key in the header, and its thumbprint (RFC 9449 §4.2, RFC 7638)."""
    members = accepted_header(f"{header}..", algorithms=SIGNING_ALGORITHMS, typ=_TYP)
    if not isinstance(members.get("jwk"), dict):
        raise JwtRefused("its header holds no jwk")
    jwk = cast("dict[str, object]", members["jwk"])
    if not PRIVATE_MEMBERS.isdisjoint(jwk):
        raise JwtRefused("its jwk is not a public key")
    key = ForeignKeys((jwk,)).find(None, str(members["alg"]))
    if key is None:
        raise JwtRefused("its jwk is not a key for its alg")
    return str(key.material.thumbprint()), key


def _comparable_url(url: str) -> str | None:
    """Return the URL without query and fragment, in its normal form (RFC 9449 §4.3)."""
    return normalize_url(url.partition("#")[0].partition("?")[0])
