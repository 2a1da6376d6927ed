"""An identity token that comes back as a hint: whom does it mean? (OIDC Core §3.1.2.1)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.clients.directory import Clients
from service.clients.keys import ClientKeys
from service.keys.algorithms import MAC_ALGORITHMS
from service.keys.jose import (
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
from service.tokens.subject import NamedPerson, SubjectIdentifiers

_CLAIM_TYPES: Mapping[str, type | tuple[type, ...]] = {"sub": str, "aud": str, "exp": int}
"""What tells an identity token from a signed userinfo answer, which has the same `typ` (RFC 8725 §3.12)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """An identity token of ours, expired or not."""

    claims: VerifiedClaims
    client: Client
    """The client that it was issued to."""
    person: NamedPerson


@dataclass(frozen=True, slots=True, kw_only=True)
class IdTokenHints:
    """Reads them."""

    issuer: str
    keys: ClientKeys
    clients: Clients
    identifiers: SubjectIdentifiers

    async def read(self, hint: str, *, sender: Client | None) -> Hint | None:
        """What an identity token says that we issued, however long ago, to a client still there.

        One that was encrypted to the client cannot be read here, unless the client decrypts it and
        encrypts it to us, or it is by the secret that the sender shares (OIDC Core §3.1.2.1).
        """
        try:
            claims = await self._verified(await self._decrypted(hint, sender))
            require_claims(claims, _CLAIM_TYPES)
        except JwtRefused:
            return None
        client = await self.clients.find(str(claims["aud"]))
        if client is None or claims.get("iss") != self.issuer:
            return None
        person = self.identifiers.named(client, str(claims["sub"]))
        return Hint(claims=claims, client=client, person=person)

    async def _decrypted(self, hint: str, sender: Client | None) -> str:
        if not looks_encrypted(hint):
            return hint
        return await self.keys.decrypt(hint, sender)

    async def _verified(self, token: str) -> VerifiedClaims:
        """The claims, if we signed them: by a key of ours, or by the secret of the client they are for."""
        alg = str(unverified_header(token).get("alg"))
        if alg not in MAC_ALGORITHMS:
            return verify(token, self.keys.ring.find, typ={ID_TOKEN_TYPE})
        client = await self.clients.find(str(unverified_claims(token).get("aud")))
        if client is None or client.id_token_signed_response_alg != alg:
            raise JwtRefused("the client that it is for is registered for another algorithm")
        types = {ID_TOKEN_TYPE.lower()}
        return await self.keys.verify(token, client, algorithms={alg}, typ=types)
