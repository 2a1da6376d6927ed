"""The content of a source in the words of config.yaml, before it is judged and written."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from service.model import marks
from service.takeover.node import Misplaced
from service.takeover.report import Report

Section = Literal[
    "api_resources",
    "api_scopes",
    "identity_resources",
    "clients",
    "token_exchange",
    "identity_providers",
    "trusted_issuers",
    "tenants",
]
LONGEST_CODE = 600
"""The seconds that an authorization code lives at most (RFC 6749 §4.1.2)."""
SHORTER_CODES = f"a code lives {LONGEST_CODE} seconds at most (RFC 6749 §4.1.2)"
PROMPTS = ("login", "consent", "select_account")
"""The prompts that a provider can always get."""
YEAR = 365 * 86400
"""The absolute end of refresh tokens here where the other server had none."""
_NO_FACTORS: Mapping[str, object] = {}
_NO_PLACES: Mapping[tuple[str, str], str] = {}


class SecretText(marks.Confidential, frozen=True):
    """A text that has to stay readable, and so becomes a file of its own: as a value in an entry."""

    text: str

    def __repr__(self) -> str:
        return "SecretText(…)"


class Entry(msgspec.Struct, frozen=True):
    """An entry of the registry, with its place in the source."""

    place: str
    values: dict[str, object]
    places: Mapping[tuple[str, str], str] = _NO_PLACES
    """By key and item: the places of items of its lists."""


class FoundUser(msgspec.Struct, frozen=True, kw_only=True):
    """A user with the keys of `users.list`, and with second factors."""

    place: str
    entry: dict[str, object]
    factors: Mapping[str, object] = _NO_FACTORS
    """`totp` and `passkeys`, as factors.json has them."""


class Found:
    """Collects what a source holds; users come one by one from the source's function."""

    def __init__(self, report: Report, *, has_jwks: bool) -> None:
        """Begin with nothing; `has_jwks`: the operator has given public keys."""
        self.report = report
        self._has_jwks = has_jwks
        self.issuer: str | None = None
        """The issuer, where the source names it."""
        self.default_issuer = "http://localhost:8080"
        """The issuer that is written where neither the source nor the operator names it."""
        self.rp_id: str | None = None
        """The domain that the users' passkeys are for."""
        self.has_one_domain = True
        """Whether that is so for all of them."""
        self.settings: dict[str, object] = {}
        """Further keys of config.yaml."""
        self.sections: dict[Section, list[Entry]] = {}
        self.keys: list[tuple[str, Mapping[str, object]]] = []
        """The JWKs by which tokens of the old server are verified, each with its place."""

    def add(
        self,
        section: Section,
        place: str,
        values: Mapping[str, object],
        places: Mapping[tuple[str, str], str] = _NO_PLACES,
    ) -> None:
        """Add an entry of the registry; members without a value are left out. `places` has, by key and item, those of items of its lists."""
        called = values.get("name") or values.get("client_id")
        if isinstance(called, str):
            self.report.name(place, called)
        present = {name: value for name, value in values.items() if value is not None}
        self.sections.setdefault(section, []).append(Entry(place, present, places))

    def set(self, key: str, value: object) -> None:
        """Set a key of config.yaml that is not in the registry."""
        self.settings[key] = value

    def add_key(self, place: str, jwk: Mapping[str, object]) -> None:
        """Add a key that tokens of the old server are verified by; only its public members are kept."""
        self.keys.append((place, jwk))

    def ask_for_keys(self, place: str, reason: str, what_to_do: str) -> None:
        """Report a key that is not in the source, unless the operator has given keys."""
        if not self._has_jwks:
            self.report.leave_out(place, reason, what_to_do)

    @contextmanager
    def taking(self, place: str) -> Generator[None]:
        """Leave out this one entry, if something in it is not what it should be."""
        try:
            yield
        except Misplaced as error:
            self.report.leave_out(error.place or place, error.reason, error.remedy)


Source = Callable[[Path, Found], Iterator[FoundUser]]
"""Reads a file or folder: puts all but the users into what was found, then returns the users, which are read as they are asked for."""
