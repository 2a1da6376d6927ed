"""Which key signs now, and which keys are published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from service.keys.jose import Key
from service.protocol.errors import TemporarilyUnavailable


class NoSigningKey(TemporarilyUnavailable):
    """This replica has no key for the algorithm (yet); another one may have it."""


@dataclass(frozen=True, slots=True)
class _Content:
    signing: Mapping[str, Key]
    published: Mapping[str, Key]
    public_jwks: bytes


class KeyRing:
    """The keys in force; a reload swaps them all at once, so that reading them is no work."""

    def __init__(self, algorithms: Sequence[str]) -> None:
        """Take the configured algorithms, the default first."""
        self.algorithms = tuple(algorithms)
        self._content = _Content({}, {}, b'{"keys":[]}')

    def replace(self, *, signing: Mapping[str, Key], published: Sequence[Key]) -> None:
        """Put these keys in force: the one that signs for each algorithm, and all that verify."""
        by_kid = {key.kid: key for key in (*signing.values(), *published)}
        jwks = orjson.dumps({"keys": [key.public_jwk for key in by_kid.values()]})
        self._content = _Content(dict(signing), by_kid, jwks)

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

    def find(self, kid: str) -> Key | None:
        """The announced, signing or retired key of that id."""
        return self._content.published.get(kid)

    def public_jwks(self) -> bytes:
        """The public keys as JSON, those that sign first (RFC 7517 §5)."""
        return self._content.public_jwks
