"""The names of claims, and the languages that they may be tagged with (OIDC Core §5.2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

MOST_LOCALES = 10

_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,6}")


def untagged(name: str) -> str | None:
    """The name without its language, or None where what follows the # is no language tag."""
    base, mark, tag = name.partition("#")
    return base if not mark or _TAG.fullmatch(tag) else None


def parse_locales(text: str | None) -> tuple[str, ...]:
    """Languages in order of preference; what is no language tag is left out (OIDC Core §5.2)."""
    tags = dict.fromkeys(tag for tag in (text or "").split() if _TAG.fullmatch(tag))
    return tuple(tags)[:MOST_LOCALES]


def find_claim(claims: Mapping[str, object], name: str, locales: Collection[str]) -> str:
    """Under which name the claims hold this one, in the first of the languages that there is.

    A claim that is asked for with its language is that one; tags know no case (BCP 47 §2.1.1).
    """
    if "#" in name:
        return _spelled(claims, name) or name
    wanted = (f"{name}#{tag}" for locale in locales for tag in _ever_shorter(locale))
    return next((spelled for one in wanted if (spelled := _spelled(claims, one))), name)


def _spelled(claims: Mapping[str, object], name: str) -> str | None:
    """The name as the claims spell it."""
    if name in claims:
        return name
    base, _, tag = name.partition("#")
    same = (known for known in claims if known.startswith(base + "#"))
    return next((known for known in same if known[len(base) + 1 :].lower() == tag.lower()), None)


def _ever_shorter(locale: str) -> Iterator[str]:
    """de-AT, then de: what is said in a language of wider use will do (RFC 4647 §3.4)."""
    parts = locale.split("-")
    for length in range(len(parts), 0, -1):
        yield "-".join(parts[:length])
