"""Which key signs now, which keys are published, and which decrypt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from service.keys.jose import Key
from service.model.events import Emit
from service.model.timings import unheard
from service.protocol.errors import TemporarilyUnavailable


class NoSigningKey(TemporarilyUnavailable):
    """This replica has no key for the algorithm (yet); another one may have it."""


@dataclass(frozen=True, slots=True)
class _Content:
    signing: Mapping[str, Key]
    since: Mapping[str, int]
    encrypting: tuple[str, ...]
    verifying: Mapping[str, Key]
    decrypting: tuple[Key, ...]
    public_jwks: bytes


class KeyRing:
    """The keys in force; a reload swaps them all at once, so that reading them is no work."""

    def __init__(self, algorithms: Sequence[str], *, timed: Emit = unheard) -> None:
        """Take the configured algorithms, the default first, and who hears how long it takes to sign."""
        self.algorithms = tuple(algorithms)
        self._timed = timed
        self._content = _Content({}, {}, (), {}, (), b'{"keys":[]}')

    def replace(
        self, *, in_use: Iterable[Key], held: Iterable[Key], since: Mapping[str, int]
    ) -> None:
        """Put these keys in force: the current one for each algorithm, and all that may be needed.

        `since` says from when on a key signs, by its key id, as far as that is known.
        What verifies is published from before it signs until after; what decrypts only while it is
        the one to encrypt to, though it decrypts for longer (OIDC Core §10.1.1, §10.2.1).
        """
        current = tuple(in_use)
        every = {key.kid: key for key in (*current, *held)}.values()
        signing = {key.alg: replace(key, timed=self._timed) for key in current if key.use == "sig"}
        verifying = {key.kid: key for key in every if key.use == "sig"}
        recipients = [key for key in current if key.use == "enc"]
        published = [key.public_jwk for key in (*verifying.values(), *recipients)]
        jwks = orjson.dumps({"keys": published})
        decrypting = tuple(key for key in every if key.use == "enc")
        self._content = _Content(
            signing, since, tuple(key.alg for key in recipients), verifying, decrypting, jwks
        )

    @property
    def ready(self) -> bool:
        """Whether this replica can sign with every configured algorithm."""
        return not self.missing

    @property
    def missing(self) -> tuple[str, ...]:
        """The configured algorithms for which this replica has no key."""
        return tuple(alg for alg in self.algorithms if alg not in self._content.signing)

    def signing_key(self, alg: str | None = None) -> Key:
        """The key that signs now with this algorithm, or with the default one; NoSigningKey if there is none."""
        key = self._content.signing.get(alg or self.algorithms[0])
        if key is None:
            raise NoSigningKey("no signing key is available")
        return key

    @property
    def signing_kids(self) -> Mapping[str, str]:
        """The key id that signs now, by algorithm."""
        return {alg: key.kid for alg, key in self._content.signing.items()}

    @property
    def signing_since(self) -> Mapping[str, int]:
        """From when on the key signs, by algorithm, as far as that is known."""
        since = self._content.since
        return {alg: since[kid] for alg, kid in self.signing_kids.items() if kid in since}

    @property
    def encryption_algorithms(self) -> tuple[str, ...]:
        """Those for which there is a key to encrypt to."""
        return self._content.encrypting

    def find(self, kid: str) -> Key | None:
        """The announced, signing or retired key of that id; never one that decrypts (RFC 8725 §2.7)."""
        return self._content.verifying.get(kid)

    def decryption_keys(self, alg: str, kid: str | None) -> tuple[Key, ...]:
        """The keys that may have been encrypted to: the one of that id, or without one all for the algorithm."""
        fitting = (key for key in self._content.decrypting if key.alg == alg)
        return tuple(key for key in fitting if kid in (None, key.kid))

    def public_jwks(self) -> bytes:
        """The public keys as JSON, those that sign first and those to encrypt to last (RFC 7517 §5)."""
        return self._content.public_jwks
