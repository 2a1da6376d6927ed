"""The names, languages and types of claims (OIDC Core §5.1, §5.2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import cast

MOST_LOCALES = 10

ADDRESS_MEMBERS = frozenset(
    {"formatted", "street_address", "locality", "region", "postal_code", "country"}
)
"""All of them strings (OIDC Core §5.1.1)."""

_STRING_CLAIM = re.compile(
    "(given_|family_|middle_|nick)?name|preferred_username|profile|picture|website|email|gender"
    "|birthdate|zoneinfo|locale|phone_number"
)
_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,6}")


def remove_language(name: str) -> str | None:
    """Return the name without its language, or None if the # is not followed by a language tag."""
    base, mark, tag = name.partition("#")
    return base if not mark or _TAG.fullmatch(tag) else None


def parse_locales(text: str | None) -> tuple[str, ...]:
    """Return the languages in order of preference, without words that are not language tags."""
    tags = dict.fromkeys(tag for tag in (text or "").split() if _TAG.fullmatch(tag))
    return tuple(tags)[:MOST_LOCALES]


def find_claim(claims: Mapping[str, object], name: str, locales: Collection[str]) -> str:
    """Return the name under which the claims hold this one, in the first language that exists.

    A name with a language means that language; tags know no case (BCP 47 §2.1.1).
    """
    if "#" in name:
        return _find_spelling(claims, name) or name
    wanted = (f"{name}#{tag}" for locale in locales for tag in _widen(locale))
    return next((spelled for one in wanted if (spelled := _find_spelling(claims, one))), name)


def find_expected_type(name: str, value: object) -> str | None:
    """Return the type of a standard claim, in any language, if the value is of another one."""
    name = name.partition("#")[0]
    if value is None:
        return None
    if _STRING_CLAIM.fullmatch(name):
        return None if isinstance(value, str) else "a string"
    if name in {"email_verified", "phone_number_verified"}:
        return None if isinstance(value, bool) else "true or false"
    if name == "updated_at":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return None if is_number else "a number of seconds"
    if name == "address" and not _is_address(value):
        return "an object whose members such as locality are strings"
    return None


def _is_address(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    members = cast("dict[str, object]", value)
    return all(isinstance(members[name], str) for name in ADDRESS_MEMBERS & members.keys())


def _find_spelling(claims: Mapping[str, object], name: str) -> str | None:
    if name in claims:
        return name
    base, _, tag = name.partition("#")
    same = (known for known in claims if known.startswith(base + "#"))
    return next((known for known in same if known[len(base) + 1 :].lower() == tag.lower()), None)


def _widen(locale: str) -> Iterator[str]:
    """Yield de-AT, then de: a text in a language of wider use will do (RFC 4647 §3.4)."""
    parts = locale.split("-")
    for length in range(len(parts), 0, -1):
        yield "-".join(parts[:length])
