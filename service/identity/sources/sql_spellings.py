"""The spellings of a name that LOWER() of some database may have made of it.

Databases do not fold names as Unicode does (§3.13): some lower ASCII letters only, as SQLite does and PostgreSQL with the locale C;
some write `İ` as `i`, or `I` as `ı`; none makes `ss` of `ß`, or one of the composed and decomposed forms. So the rows of all
these spellings are asked for, and compared with the name here.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable, Iterator

_LOWER_ASCII = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_LOWER_TURKISH = str.maketrans("Iİ", "ıi")


def spell(name: str) -> tuple[str, ...]:
    """Return the spellings, sorted; for most names in ASCII it is one, or two."""
    return tuple(sorted(set(_lower_case_forms(name))))


def _lower_case_forms(name: str) -> Iterator[str]:
    for stored in set(_stored_forms(name)):
        for lower in _LOWERS:
            yield lower(stored)


def _stored_forms(name: str) -> Iterator[str]:
    """Yield how the name may be stored: in upper or lower case, composed or not."""
    sharp = name.casefold().replace("ss", "ß")
    for form in (name, unicodedata.normalize("NFKC", name), sharp):
        for case in (form, form.lower(), form.upper(), form.title(), form.casefold()):
            yield from (
                case,
                unicodedata.normalize("NFC", case),
                unicodedata.normalize("NFD", case),
            )


_LOWERS: tuple[Callable[[str], str], ...] = (
    str.lower,  # as ICU does
    lambda stored: stored.replace("İ", "i").lower(),  # one letter for each, as libc does
    lambda stored: stored.translate(_LOWER_TURKISH).lower(),
    lambda stored: stored.translate(_LOWER_ASCII),
)
