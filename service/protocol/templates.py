"""Texts with names in braces: a subject from the claims of a JWT, and a sentence about authorization_details (RFC 9396 §12)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import cast

from service.protocol.authorization_details import Detail

_PATH = re.compile(r"[^\s{}.]+(\.[^\s{}.]+)*")

LONGEST_SUBJECT = 255
"""Characters (OIDC Core §2)."""

_BRACES = re.compile(r"\{([^{}]*)\}")


def is_subject(text: str) -> bool:
    """Return whether it can be the `sub` of a user of this service (OIDC Core §2)."""
    return 0 < len(text) <= LONGEST_SUBJECT and text.isascii() and text.isprintable()


def find_claim_names(template: str) -> tuple[str, ...]:
    """Return the names in braces; ValueError for braces that hold no name."""
    names = tuple(_BRACES.findall(template))
    if "" in names or re.search("[{}]", _BRACES.sub("", template)):
        raise ValueError("has a brace without its counterpart, or without a name between")
    return names


def has_fixed_text(template: str) -> bool:
    """Return whether a template has anything besides claims."""
    return bool(_BRACES.sub("", template))


def fill_template(template: str, claims: Mapping[str, object]) -> str:
    """Return the subject; ValueError if a claim is missing, or the subject is too long or beyond ASCII."""
    subject = _BRACES.sub(lambda match: _text_of(claims, match[1]), template)
    if not is_subject(subject):
        raise ValueError(f"its subject here does not have 1 to {LONGEST_SUBJECT} ASCII characters")
    return subject


def _text_of(claims: Mapping[str, object], name: str) -> str:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"its claim {name} is missing, or is no text")
    return str(value)


def find_placeholders(summary: str) -> Iterator[tuple[str, ...]]:
    """Yield the path of each placeholder; ValueError for braces without a path."""
    if re.search("[{}]", _BRACES.sub("", summary)):
        raise ValueError("has a brace without its counterpart")
    for match in _BRACES.finditer(summary):
        if not _PATH.fullmatch(match[1]):
            raise ValueError(f"has the placeholder {match[0]}, which names no member")
        yield tuple(match[1].split("."))


def fill_placeholders(summary: str, detail: Detail) -> str:
    """Return the sentence with the members of an object; those that it does not have are left out."""
    filled = _BRACES.sub(lambda match: _text(_find(detail, match[1].split("."))), summary)
    return " ".join(filled.split())


def list_members(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every member, those within it as `amount › currency`."""
    for key, member in _parts_of(value):
        yield from list_members(member, f"{name} › {key}" if name else key)
    if not _parts_of(value):
        yield name, _text(value)


def _parts_of(value: object) -> list[tuple[str, object]]:
    """Return the members of an object, or the elements of an array that holds objects or arrays."""
    if isinstance(value, dict):
        return list(cast("Detail", value).items())
    elements = cast("list[object]", value) if isinstance(value, list) else []
    return [] if _is_plain(elements) else [(str(at), each) for at, each in enumerate(elements, 1)]


def _find(value: object, path: list[str]) -> object:
    for name in path:
        value = cast("Mapping[str, object]", value).get(name) if isinstance(value, dict) else None
    return value


def _text(value: object) -> str:
    """Return a value as people read it; an empty text for an object, and for null."""
    if isinstance(value, list) and _is_plain(cast("list[object]", value)):
        return ", ".join(map(_text, cast("list[object]", value)))
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else ""


def _is_plain(elements: list[object]) -> bool:
    return not any(isinstance(element, dict | list) for element in elements)
