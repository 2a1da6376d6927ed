"""Reads and changes the second factors of a person; they are kept in Redis, sealed, unless the users' own system has them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import structlog
from msgspec.structs import replace

from service.keys.sealing import Seal, Unreadable
from service.model.factors import Factors, FactorStore
from service.model.handle import digest, name_digest, new_selector
from service.model.request_context import read_factors
from service.protocol.errors import InteractionRequired, TemporarilyUnavailable
from service.store import verbs
from service.store.keyvalue import StoreUnavailable
from service.store.records import Encoding
from service.store.stores import Stores
from service.store.verbs import STEP, Command, Read

log = structlog.stdlib.get_logger(__name__)

ATTEMPTS = 10
"""Changes of the same person's factors at the same moment that one of them waits for."""


class FactorsUnreadable(StoreUnavailable):
    """Factors are stored that cannot be decrypted, or that are another person's, which is not the same as none."""


class FactorCount(msgspec.Struct, kw_only=True):
    """The numbers of users with second factors, and of factors of each kind."""

    users: int = 0
    otp: int = 0
    passkeys: int = 0
    recovery_codes: int = 0
    unreadable: int = 0
    """Users whose factors no key of `signing.encryption_key` decrypts."""

    def add(self, factors: Factors) -> None:
        self.users += 1
        self.otp += factors.totp is not None
        self.passkeys += len(factors.passkeys)
        self.recovery_codes += len(factors.recovery_codes)


class OwnedFactors(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a record; the subject is in it, so that nobody's record passes for another person's."""

    sub: str
    factors: Factors


CONTENT = Encoding("factors", OwnedFactors)


class StoredFactors(msgspec.Struct, frozen=True):
    """The `FactorStore` in Redis, sealed under `signing.encryption_key` and without a TTL."""

    stores: Stores
    seal: Seal

    async def find_factors(self, sub: str) -> Factors:
        """Return the factors; raise FactorsUnreadable if they cannot be decrypted."""
        return self.open(sub, await self.stores.kv.get(self.stores.factors.key(name_digest(sub))))

    async def replace_factors(self, sub: str, factors: Factors, *, instead_of: str) -> bool:
        records, kv = self.stores.factors, self.stores.kv
        key = records.key(digest(sub))
        before = await kv.get(key)
        stored = self.open(sub, before)
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

    def open(self, sub: str, value: bytes | None) -> Factors:
        """Return the factors in a value of the store; raise FactorsUnreadable if they cannot be decrypted."""
        if value is None:
            return Factors()
        try:
            owned = self._decrypt(self.stores.factors.decode(value))
        except (Unreadable, ValueError) as error:
            log.error("second factors in the store cannot be decrypted", subject=sub)  # noqa: TRY400 - nor shown
            raise FactorsUnreadable("the store holds second factors that cannot be read") from error
        if owned.sub != sub:
            log.error("second factors in the store are another person's", subject=sub)
            raise FactorsUnreadable("the store holds second factors that cannot be read")
        return owned.factors

    def _decrypt(self, sealed: str) -> OwnedFactors:
        return CONTENT.decode(self.seal.open_text(sealed).encode())

    async def count(self) -> FactorCount:
        """Walk through the whole store, which only operators may do."""
        records, kv, counted = self.stores.factors, self.stores.kv, FactorCount()
        async for keys in kv.find_key_batches(records.key("*"), size=STEP):
            found = await kv.read(*[Read(key, records.decode) for key in keys])
            for sealed in (one for one in found if one is not None):
                try:
                    counted.add(self._decrypt(sealed).factors)
                except (Unreadable, ValueError):
                    counted.unreadable += 1
        return counted


class FactorsFound(InteractionRequired):
    """The user has second factors that nobody has looked at yet; this request has read them now."""

    def __init__(self) -> None:
        super().__init__("the user's second factors have to be looked at")


class FactorQuestion(msgspec.Struct, frozen=True):
    """Asks for the second factors of a user in the round trip that writes the client's answer, because most users have none."""

    stored: StoredFactors
    subject: str

    @property
    def write(self) -> Command:
        """The question, to be the last of the writes."""
        return ("GET", self.stored.stores.factors.key(name_digest(self.subject)))

    async def check(self, answer: bytes | None) -> None:
        """Raise FactorsFound if there are some, FactorsUnreadable if they cannot be read."""
        factors = self.stored.open(self.subject, answer)
        read_factors()[self.subject] = factors
        if factors.is_enrolled:
            raise FactorsFound


async def drop_factors(stores: Stores, sub: str) -> None:
    """Remove the factors unread, also those that cannot be decrypted."""
    await stores.kv.write(stores.factors.drop(digest(sub)), durable=True)


class EnrolledFactors(msgspec.Struct, frozen=True):
    """A request reads a user's factors once. Each change is made once over all replicas, because it replaces exactly the version that it was computed from."""

    store: FactorStore

    def ask_late(self, sub: str) -> FactorQuestion | None:
        """Return the question for a user's factors; None where they have been read, or the users' own system has them."""
        if sub in read_factors() or not isinstance(self.store, StoredFactors):
            return None
        return FactorQuestion(self.store, sub)

    async def find(self, sub: str) -> Factors:
        read = read_factors()
        if sub not in read:
            read[sub] = await self.store.find_factors(sub)
        return read[sub]

    async def change(self, sub: str, change: Callable[[Factors], Factors | None]) -> Factors | None:
        """Store what `change` makes of the factors; None where it makes nothing of them, such as of a used code.

        It is called again if somebody else was faster, with what is stored by then.
        """
        read = read_factors()
        for _ in range(ATTEMPTS):
            before = await self.find(sub)
            after = change(before)
            if after is None:
                return None
            after = replace(after, version=new_selector())
            read.pop(sub, None)
            if await self.store.replace_factors(sub, after, instead_of=before.version):
                read[sub] = after
                return after
        raise TemporarilyUnavailable("the second factors change too often at once")


class PasskeyOwners(msgspec.Struct, frozen=True):
    """Finds the owner of a passkey, because authenticators do not send the user's `sub`."""

    stores: Stores

    async def claim(self, credential_id: str, sub: str) -> bool:
        """Note whose passkey it is; False if it is another user's (WebAuthn §7.1)."""
        records, kv = self.stores.passkey_owners, self.stores.kv
        key = digest(credential_id)
        is_new = await kv.replace(records.key(key), old=None, new=records.encode(sub))
        return is_new or await self.find(credential_id) == sub

    async def find(self, credential_id: str) -> str | None:
        """Return the subject identifier of the passkey's user."""
        (sub,) = await self.stores.kv.read(self.stores.passkey_owners.read(digest(credential_id)))
        return sub

    async def release(self, credential_id: str) -> None:
        await self.stores.kv.write(self.stores.passkey_owners.drop(digest(credential_id)))


async def remove_all(enrolled: EnrolledFactors, stores: Stores, sub: str) -> Factors | None:
    """Remove all factors of a user; return what they were, None if no key of `signing.encryption_key` can say it."""
    try:
        removed = await enrolled.find(sub)
        if removed != Factors():
            await enrolled.change(sub, lambda _: Factors())
    except FactorsUnreadable:
        await drop_factors(stores, sub)
        return None
    owners = PasskeyOwners(stores)
    for passkey in removed.passkeys:
        await owners.release(passkey.credential_id)
    return removed


def methods_of(factors: Factors) -> list[str]:
    """Return the method of each factor."""
    return [*(["otp"] if factors.totp else []), *["passkey" for _ in factors.passkeys]]
