"""An identity token that comes back as a hint: whom does it mean? (OIDC Core §3.1.2.1)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.clients.directory import Clients
from service.keys.jose import JwtRefused, VerifiedClaims, require_claims, verify
from service.keys.keyring import KeyRing
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
    keys: KeyRing
    clients: Clients
    identifiers: SubjectIdentifiers

    async def read(self, hint: str) -> Hint | None:
        """What an identity token says that we issued, however long ago, to a client still there."""
        try:
            claims = verify(hint, self.keys.find, typ={ID_TOKEN_TYPE})
            require_claims(claims, _CLAIM_TYPES)
        except JwtRefused:
            return None
        client = await self.clients.find(str(claims["aud"]))
        if client is None or claims.get("iss") != self.issuer:
            return None
        person = self.identifiers.named(client, str(claims["sub"]))
        return Hint(claims=claims, client=client, person=person)
