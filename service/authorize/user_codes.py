"""Makes user codes, and finds what they stand for, in few attempts only (RFC 8628 §5.1, §6.1)."""

from __future__ import annotations

import secrets

import msgspec

from service.clock import clock
from service.model.handle import digest
from service.model.polling import PolledPlace
from service.protocol.errors import TooManyWrongCodes
from service.store import verbs
from service.store.rate_limit import networks_of
from service.store.stores import Stores

ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels, so that no code is a word, and nothing that looks like a digit (RFC 8628 §6.1)."""

LENGTH = 8
WINDOW = 600
"""Seconds for which a wrong code counts against its browser and address."""

MINUTE = 60
_SEPARATORS = str.maketrans("", "", " -\u00a0\u2010\u2011\u2012\u2013\u2014\u2212")
"""Characters that people write between the letters, or their keyboards for them."""


def new_user_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def format_user_code(code: str) -> str:
    """Return the code as people read it: `XXXX-XXXX`."""
    return f"{code[: LENGTH // 2]}-{code[LENGTH // 2 :]}"


def parse_user_code(text: str) -> str | None:
    """Return the code that somebody has typed, whatever the case and the separators; None for anything else."""
    code = text.strip().translate(_SEPARATORS).upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


class DeviceUserCodes(msgspec.Struct, frozen=True, kw_only=True):
    """Counts every attempt before it looks, so that a burst cannot outrun the counters; right codes are taken off again."""

    stores: Stores
    prefix: str
    per_session: int
    """Wrong codes from one browser within the window."""
    per_address: int
    """Wrong codes from one network within the window."""
    per_minute: int
    """Wrong codes from everywhere."""

    async def find(self, text: str, *, browser: str, address: str) -> PolledPlace | None:
        """Return what the code stands for; TooManyWrongCodes if too many wrong ones came before.

        What its own limits refuse does not count for everywhere: one address cannot use up the attempts of all.
        """
        networks = {
            self._key("address", one): self.per_address * share
            for one, share in networks_of(address).items()
        }
        session = self._key("session", browser)
        minute, elapsed = divmod(clock(), MINUTE)
        everywhere = self._key("everywhere", str(minute))
        # The network first: a browser without cookies has a new session each time, and so a new key in the store.
        for network, limit in networks.items():
            await self._count(network, limit, WINDOW, retry_after=WINDOW)
        await self._count(session, self.per_session, WINDOW, retry_after=WINDOW)
        await self._count(everywhere, self.per_minute, 2 * MINUTE, retry_after=MINUTE - elapsed)
        code = parse_user_code(text)
        place = None
        if code is not None:
            (place,) = await self.stores.kv.read(self.stores.user_codes.read(digest(code)))
        if place is not None:
            await self.stores.kv.write(*map(verbs.uncount, (*networks, session, everywhere)))
        return place

    async def _count(self, key: str, limit: int, ttl: int, *, retry_after: int) -> None:
        (count,) = await self.stores.kv.write(verbs.count(key, ttl))
        if count > limit:
            raise TooManyWrongCodes("too many codes were wrong", retry_after=retry_after)

    def _key(self, *parts: str) -> str:
        return f"{self.prefix}:{{{digest(chr(0).join(('user_code', *parts)))}}}:rl"
