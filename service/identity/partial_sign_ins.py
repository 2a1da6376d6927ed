"""Keeps sign-ins that still lack a step; until then no page and no client accepts them.

The store knows the hash of the id alone: what is kept is encrypted with a key that is derived from the id.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass

import msgspec
from cryptography.fernet import Fernet, InvalidToken

from service.identity.sessions import SignIn
from service.model.handle import digest
from service.model.session import SealedSignIn
from service.store.stores import Stores

LIFETIME = 15 * 60
"""Seconds that a user has for the next step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialSignIn:
    """The factors that are done, for one request of one browser."""

    id: str
    sign_in: SignIn
    parked_id: str
    """The authorization request; empty where the user signs in to the own account."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(PartialSignIn).decode


@dataclass(frozen=True, slots=True)
class PartialSignIns:
    """Each belongs to the browser that began it, and is continued once."""

    stores: Stores

    async def keep(self, sign_in: SignIn, *, parked_id: str, browser: str) -> PartialSignIn:
        """Store the sign-in under a new id."""
        partial = PartialSignIn(id=secrets.token_urlsafe(32), sign_in=sign_in, parked_id=parked_id)
        sealed = _cipher(partial.id).encrypt(_encode(partial)).decode()
        record = SealedSignIn(sealed=sealed, browser_digest=digest(browser))
        kept = self.stores.partial_sign_ins.put(record, digest(partial.id), ttl=LIFETIME)
        await self.stores.kv.write(kept)
        return partial

    async def find(self, partial_id: str, *, browser: str) -> PartialSignIn | None:
        """Return the sign-in with this id; None where it expired or another browser began it."""
        (record,) = await self.stores.kv.read(self.stores.partial_sign_ins.read(digest(partial_id)))
        if record is None or not hmac.compare_digest(record.browser_digest, digest(browser)):
            return None
        try:
            return _decode(_cipher(partial_id).decrypt(record.sealed))
        except (InvalidToken, msgspec.MsgspecError):
            return None

    async def end(self, partial: PartialSignIn) -> bool:
        """Remove the sign-in; False if it has expired or another request was faster."""
        (removed,) = await self.stores.kv.write(
            self.stores.partial_sign_ins.drop(digest(partial.id))
        )
        return bool(removed)


def _cipher(partial_id: str) -> Fernet:
    return Fernet(urlsafe_b64encode(hmac.digest(partial_id.encode(), b"sign-in", "sha256")))
