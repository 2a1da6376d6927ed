"""Keeps the second factors of people in Redis, sealed under `signing.encryption_key` and without a TTL."""

from __future__ import annotations

import msgspec
import structlog

from service.keys.sealing import Seal, Unreadable
from service.model.factors import Factors
from service.model.handle import digest
from service.store import verbs
from service.store.keyvalue import StoreUnavailable
from service.store.records import Encoding
from service.store.stores import Stores

log = structlog.stdlib.get_logger(__name__)


class FactorsUnreadable(StoreUnavailable):
    """Factors are stored that cannot be decrypted, or that are another person's, which is not the same as none."""


class OwnedFactors(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a record; the subject is in it, so that nobody's record passes for another person's."""

    sub: str
    factors: Factors


CONTENT = Encoding("factors", OwnedFactors)


class StoredFactors(msgspec.Struct, frozen=True):
    """The `FactorStore` in Redis."""

    stores: Stores
    seal: Seal

    async def find_factors(self, sub: str) -> Factors:
        """Return the factors; raise FactorsUnreadable if they cannot be decrypted."""
        (sealed,) = await self.stores.kv.read(self.stores.factors.read(digest(sub)))
        return Factors() if sealed is None else self._open(sub, sealed)

    async def replace_factors(self, sub: str, factors: Factors, *, instead_of: str) -> bool:
        records, kv = self.stores.factors, self.stores.kv
        key = records.key(digest(sub))
        before = await kv.get(key)
        stored = Factors() if before is None else self._open(sub, records.decode(before))
        if stored.version != instead_of:
            return False
        after: bytes | None = None
        if factors.is_enrolled or factors.recovery_codes:
            content = CONTENT.encode(OwnedFactors(sub=sub, factors=factors))
            after = records.encode(self.seal.seal_text(content.decode()))
            write = verbs.replace(key, before, after)
        elif before is None:
            return True
        else:
            write = verbs.drop_value(key, before)
        (done,) = await kv.write(write, durable=True)
        # The engine may have repeated the command: then its own value, which is unique, is there.
        return bool(done) or await kv.get(key) == after

    def _open(self, sub: str, sealed: str) -> Factors:
        try:
            owned = CONTENT.decode(self.seal.open_text(sealed).encode())
        except (Unreadable, msgspec.DecodeError, ValueError) as error:
            log.error("second factors in the store cannot be decrypted", subject=sub)  # noqa: TRY400 - nor shown
            raise FactorsUnreadable("the store holds second factors that cannot be read") from error
        if owned.sub != sub:
            log.error("second factors in the store are another person's", subject=sub)
            raise FactorsUnreadable("the store holds second factors that cannot be read")
        return owned.factors


async def drop_factors(stores: Stores, sub: str) -> None:
    """Remove the factors unread, also those that cannot be decrypted."""
    await stores.kv.write(stores.factors.drop(digest(sub)), durable=True)
