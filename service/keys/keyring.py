"""Holds the keys in force: one per algorithm that signs, those that are published, and those that decrypt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import orjson

from service.clock import clock
from service.events.timings import EmitTiming, ignore_timing
from service.keys.jose import Key
from service.keys.verify_only import VerifyOnlyKey
from service.protocol.errors import TemporarilyUnavailable


class KeyRing:
    """The keys in force; all of them are replaced at once, so that a request only looks them up."""

    def __init__(self, algorithms: Sequence[str], *, timed: EmitTiming = ignore_timing) -> None:
        """Take the configured algorithms, the default first; `timed` receives the duration of each signature."""
        self.algorithms = tuple(algorithms)
        self._timed = timed
        self.public_jwks = b""
        """The public keys as JSON, those that sign first and those to encrypt to last (RFC 7517 §5).

        The same object for as long as they are the same keys.
        """
        self.verify_only: Mapping[str, VerifyOnlyKey] = {}
        """Keys of the server before, by key id."""
        self.replace(in_use=(), held=(), since={})

    def replace(
        self,
        *,
        in_use: Iterable[Key],
        held: Iterable[Key],
        since: Mapping[str, int],
        verify_only: Mapping[str, VerifyOnlyKey] = {},
    ) -> None:
        """Put these keys in force: the current one for each algorithm, and all that may be needed.

        `since` says from when on a key signs, by its key id, as far as that is known.
        What verifies is published from before it signs until after; what decrypts only while it is
        the one to encrypt to, though it decrypts for longer (OIDC Core §10.1.1, §10.2.1).
        """
        current = tuple(in_use)
        every = {key.kid: key for key in (*current, *held)}.values()
        recipients = [key for key in current if key.use == "enc"]
        self._signing = {
            key.alg: replace(key, timed=self._timed) for key in current if key.use == "sig"
        }
        self.signing_kids = {alg: key.kid for alg, key in self._signing.items()}
        """The key id that signs now, by algorithm."""
        kids = self.signing_kids.items()
        self.signing_since = {alg: since[kid] for alg, kid in kids if kid in since}
        """The time from which on the key signs, by algorithm, as far as that is known."""
        self._verifying = {key.kid: key for key in every if key.use == "sig"}
        self.verify_only = {
            kid: verify_only[kid] for kid in verify_only if kid not in self._verifying
        }
        others = [each.key for each in self.verify_only.values()]
        self._decrypting = [key for key in every if key.use == "enc"]
        self.encryption_algorithms = tuple(key.alg for key in recipients)
        """Those for which there is a key to encrypt to."""
        jwks = orjson.dumps(
            {"keys": [key.public_jwk for key in (*self._verifying.values(), *others, *recipients)]}
        )
        if jwks != self.public_jwks:
            self.public_jwks = jwks

    @property
    def missing(self) -> tuple[str, ...]:
        """The configured algorithms for which this replica has no key."""
        return tuple(alg for alg in self.algorithms if alg not in self._signing)

    def signing_key(self, alg: str | None = None) -> Key:
        """Return the key that signs with this algorithm, or with the default one; or raise TemporarilyUnavailable."""
        key = self._signing.get(alg or self.algorithms[0])
        if key is None:  # another replica may have it
            raise TemporarilyUnavailable("no signing key is available")
        return key

    def find(self, kid: str) -> Key | None:
        """Return the announced, signing or retired key of that id; never one that decrypts (RFC 8725 §2.7)."""
        key = self._verifying.get(kid)
        if key is None and kid in self.verify_only:
            other = self.verify_only[kid]
            return other.key if clock() < other.until else None
        return key

    @property
    def private_keys(self) -> tuple[Key, ...]:
        """The keys that sign now, or may soon or have lately at another replica."""
        return tuple(key for key in self._verifying.values() if key.is_private)

    def decryption_keys(self, alg: str, kid: str | None) -> tuple[Key, ...]:
        """Return the keys that may have been encrypted to: those for `alg`, of that id if there is one."""
        fitting = (key for key in self._decrypting if key.alg == alg)
        return tuple(key for key in fitting if kid in (None, key.kid))
