"""Reads ID tokens that come back as a hint (OIDC Core §3.1.2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.clients.directory import Clients
from service.clients.keys import ClientKeys
from service.keys.jose import (
    MAC_ALGORITHMS,
    JwtRefused,
    VerifiedClaims,
    require_claims,
    unverified_claims,
    unverified_header,
    verify,
)
from service.keys.jwe import looks_encrypted
from service.model.client import Client
from service.tokens.id_token import ID_TOKEN_TYPE
from service.tokens.subject import RequestedUser, SubjectIdentifiers

_CLAIM_TYPES: Mapping[str, type | tuple[type, ...]] = {"sub": str, "aud": str, "exp": int}
"""A signed userinfo response has the same `typ` as an ID token, but not all of these (RFC 8725 §3.12)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A valid ID token of this service, expired or not."""

    claims: VerifiedClaims
    client: Client
    """The client that it was issued to."""
    user: RequestedUser


@dataclass(frozen=True, slots=True, kw_only=True)
class IdTokenHints:
    issuer: str
    keys: ClientKeys
    clients: Clients
    identifiers: SubjectIdentifiers

    async def read(self, hint: str, *, sender: Client | None) -> Hint | None:
        """Return the ID token, of whatever age, if this service issued it to a client that still exists.

        One that is encrypted to the client cannot be read here. The client has to decrypt it, and
        may encrypt it to this service or by the secret that the sender shares (OIDC Core §3.1.2.1).
        """
        try:
            token = await self.keys.decrypt(hint, sender) if looks_encrypted(hint) else hint
            claims = await self._verify(token)
            require_claims(claims, _CLAIM_TYPES)
        except JwtRefused:
            return None
        client = await self.clients.find(str(claims["aud"]))
        if client is None or claims.get("iss") != self.issuer:
            return None
        subs = frozenset({str(claims["sub"])})
        user = RequestedUser(client=client, subs=subs, identifiers=self.identifiers)
        return Hint(claims=claims, client=client, user=user)

    async def _verify(self, token: str) -> VerifiedClaims:
        """Verify the signature by a key of this service, or by the secret of the client in `aud`."""
        alg = str(unverified_header(token).get("alg"))
        if alg not in MAC_ALGORITHMS:
            return verify(token, self.keys.ring.find, typ={ID_TOKEN_TYPE})
        client = await self.clients.find(str(unverified_claims(token).get("aud")))
        if client is None or client.id_token_signed_response_alg != alg:
            raise JwtRefused("the client in aud is registered for another algorithm")
        types = {ID_TOKEN_TYPE.lower()}
        return await self.keys.verify(token, client, algorithms={alg}, typ=types)
