"""Mints ID tokens, and reads those that come back as a hint: which user signed in at a client, when and how (OIDC Core §2)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from hashlib import sha256, sha384, sha512

import msgspec

from service.clients.directory import Clients
from service.clients.keys import ClientKeys
from service.keys import jose
from service.keys.algorithms import MAC_ALGORITHMS
from service.keys.foreign_keys import UNNAMED, audiences_of
from service.keys.jwe import DEFAULT_ENC, looks_encrypted
from service.model.authorization import Authorization
from service.model.client import Client
from service.protocol.octets import base64url, first_16_bytes
from service.tokens.claims import (
    askable,
    claims_of_scope,
    put_authentication_claims,
    select_claims,
    without_protocol_claims,
)
from service.tokens.subject import RequestedUser, SubjectIdentifiers

ID_TOKEN_TYPE = "JWT"

_HASHES = {"256": sha256, "384": sha384}
"""By the end of an algorithm's name; all others, EdDSA too, use SHA-512."""

_CLAIM_TYPES: Mapping[str, type | tuple[type, ...]] = {"sub": str, "aud": str, "exp": int}
"""A signed userinfo response has the same `typ` as an ID token, but not all of these (RFC 8725 §3.12)."""

_NOT_OURS = "is not an ID token of this service"

_TYPES = frozenset({ID_TOKEN_TYPE.lower(), UNNAMED})
"""dex names no type."""

_TYP_CLAIM = "ID"
"""The claim `typ` of an ID token that Keycloak has made; those of this service have none."""


class HashedArtifacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The parts of a response that its ID token is bound to by hashes (OIDC Core §3.3.2.11)."""

    access_token: str | None = None
    access_token_sha256: str | None = None
    """The hash of the access token, base64url, where it was needed before."""
    code: str | None = None
    state: str | None = None

    def claims(self, alg: str) -> dict[str, str]:
        """Return the hashes of those that there are, for a signature by this algorithm."""
        claims: dict[str, str] = {}
        if self.access_token is not None:
            claims["at_hash"] = half_hash(
                self.access_token, alg, known_sha256=self.access_token_sha256
            )
        if self.code is not None:
            claims["c_hash"] = half_hash(self.code, alg)
        if self.state is not None:
            claims["s_hash"] = half_hash(self.state, alg)
        return claims


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """A valid ID token of this service, expired or not."""

    claims: jose.VerifiedClaims
    client: Client
    """The client that it was issued to."""
    user: RequestedUser
    is_proof: bool
    """Whether only this service can have made it; False where the client's secret signs it, and so the client could have."""


class IdTokens(msgspec.Struct, frozen=True, kw_only=True):
    issuer: str
    keys: ClientKeys
    clients: Clients
    identifiers: SubjectIdentifiers

    async def mint(
        self,
        authorization: Authorization,
        client: Client,
        hashed: HashedArtifacts,
        *,
        nonce: str | None,
        user_claims: Mapping[str, object],
        now: int,
        ends_at: int = sys.maxsize,
    ) -> str:
        """Make an ID token, signed, and encrypted if the client is registered for that (OIDC Core §16.14).

        It holds user claims if no access token is issued to fetch them with, if the client's
        registration says so (OIDC Core §5.4), or if the client asked for them there (§5.5).
        """
        key = self.keys.signing_key(client, client.id_token_signed_response_alg)
        claims: dict[str, object] = {
            "iss": self.issuer,
            "sub": self.identifiers.find_sub(client, str(authorization.subject)),
            "aud": client.client_id,
            "exp": min(now + client.identity_token_lifetime, ends_at),
            "iat": now,
            **hashed.claims(key.alg),
        }
        if nonce is not None:
            claims["nonce"] = nonce
        put_authentication_claims(claims, authorization)
        if not client.is_told_of_session:
            claims.pop("sid", None)
        asked, registry = authorization.claims_request, self.clients.registry.current
        alone = hashed.access_token is None and hashed.code is None
        names: list[str] = []
        if alone or client.always_include_user_claims_in_id_token:
            names += claims_of_scope(registry, authorization.scope)
        if asked is not None:
            names += askable(registry, client, asked.id_token)
        own = client.user_claims
        if names or own is not None:
            further = select_claims(user_claims, names, asked.locales if asked else ())
            if own is not None:
                further |= own.find(own.id_token, user_claims)
            claims |= without_protocol_claims(further)
        signed = await key.sign(claims, typ=ID_TOKEN_TYPE)
        alg, enc = client.id_token_encrypted_response_alg, client.id_token_encrypted_response_enc
        if alg is None:
            return signed
        return await self.keys.encrypt(
            signed.encode(), client, alg=alg, enc=enc or DEFAULT_ENC, cty="JWT"
        )

    async def read_hint(self, hint: str, *, sender: Client | None) -> Hint:
        """Return the ID token, of whatever age; JwtRefused unless this service issued it to a client that still exists.

        One that is encrypted to the client cannot be read here. The client has to decrypt it, and
        may encrypt it to this service or by the secret that the sender shares (OIDC Core §3.1.2.1).
        """
        token = await self._decrypt_hint(hint, sender) if looks_encrypted(hint) else hint
        try:
            claims, is_proof = await self._verify_hint(token)
            jose.require_claims(claims, _CLAIM_TYPES)
        except jose.JwtRefused as refused:
            raise jose.JwtRefused(_NOT_OURS) from refused
        client = await self.clients.find(str(claims["aud"]))
        # Another `typ` has an access token of a client with access_token_typ: JWT.
        if (
            client is None
            or claims.get("iss") != self.issuer
            or claims.get("typ", _TYP_CLAIM) != _TYP_CLAIM
        ):
            raise jose.JwtRefused(_NOT_OURS)
        subs = frozenset({str(claims["sub"])})
        user = RequestedUser(client=client, subs=subs, identifiers=self.identifiers)
        return Hint(claims=claims, client=client, user=user, is_proof=is_proof)

    async def _decrypt_hint(self, hint: str, sender: Client | None) -> str:
        try:
            return await self.keys.decrypt(hint, sender)
        except jose.JwtRefused as refused:
            message = "is encrypted, and not to this service: the client has to decrypt it"
            raise jose.JwtRefused(message) from refused

    async def _verify_hint(self, token: str) -> tuple[jose.VerifiedClaims, bool]:
        """Verify the signature by a key of this service (True), or by the secret of the client in `aud` (False)."""
        alg = str(jose.unverified_header(token).get("alg"))
        if alg not in MAC_ALGORITHMS:
            return _with_one_audience(jose.verify(token, self.keys.ring.find, typ=_TYPES)), True
        client = await self.clients.find(str(jose.unverified_claims(token).get("aud")))
        if client is None or client.id_token_signed_response_alg != alg:
            raise jose.JwtRefused("the client in aud is registered for another algorithm")
        types = {ID_TOKEN_TYPE.lower()}
        return await self.keys.verify(token, client, algorithms={alg}, typ=types), False


def _with_one_audience(claims: jose.VerifiedClaims) -> jose.VerifiedClaims:
    """Return the claims with `aud` as a string: Hydra and dex write a list of one."""
    audience = audiences_of(claims.get("aud"))
    return jose.VerifiedClaims({**claims, "aud": audience[0]}) if len(audience) == 1 else claims


def half_hash(value: str, alg: str, *, known_sha256: str | None = None) -> str:
    """Return the left half of the hash that belongs to a signature algorithm (OIDC Core §3.1.3.6)."""
    if known_sha256 is not None and alg.endswith("256"):
        return first_16_bytes(known_sha256)
    digest = _HASHES.get(alg[-3:], sha512)(value.encode()).digest()
    return base64url(digest[: len(digest) // 2])
