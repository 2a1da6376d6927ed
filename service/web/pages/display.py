"""Prepares for pages scope values, claims, devices, and long lists, of which a page shows a part (RFC 6749 §3.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Generic, TypeGuard, TypeVar, cast

import msgspec

from service.model.local_text import LocalText
from service.model.registry import Registry
from service.model.resources import ApiResource, Scope
from service.protocol.authorization_details import Detail
from service.protocol.scope import OFFLINE_ACCESS
from service.protocol.templates import fill_placeholders, list_members
from service.protocol.typed_text import INVISIBLE

T = TypeVar("T")

PER_PAGE = 20
"""Rows of a list on a page."""

MAX_DIGITS = 4

LONGEST_NAME = 80
"""As for dynamically registered clients; a longer name would push the rest of the page off a phone's screen."""

# The first that is found counts: most browsers also claim to be those further down.
_BROWSERS = (
    ("Edge", r"\bEdg(e|A|iOS)?/"),
    ("Opera", r"\b(OPR|Opera)/"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Vivaldi", r"\bVivaldi/"),
    ("Firefox", r"\b(Firefox|FxiOS)/"),
    ("Chrome", r"\b(Chrome|HeadlessChrome|CriOS)/"),
    ("Safari", r"\bSafari/"),
)
_SYSTEMS = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMac OS X\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Linux", r"\bLinux\b"),
)
_MOBILE = frozenset({"iPhone", "iPad", "Android"})


def shown_scopes(registry: Registry, scope: AbstractSet[str]) -> list[Scope]:
    """Return the scopes in the registry's order; one that it does not know has a name only."""
    known = [*registry.identity_resources, *registry.api_scopes]
    others = sorted(scope - set(known), key=lambda name: (name == OFFLINE_ACCESS, name))
    names = [*(name for name in known if name in scope), *others]
    return [registry.scope(name) or Scope(name=name) for name in names]


class ShownDetail(msgspec.Struct, frozen=True, kw_only=True):
    """An object of authorization_details as a person reads it (RFC 9396 §12)."""

    api: ApiResource
    type: str
    summary: str | LocalText | None
    members: list[tuple[str, str]]
    """Names and values, without `type`."""


def shown_details(registry: Registry, details: Iterable[Detail]) -> list[ShownDetail]:
    """Return the objects without characters that cannot be seen, by which a value could pretend to be another."""
    shown: list[ShownDetail] = []
    for detail in details:
        known = registry.authorization_details_types[str(detail["type"])]
        members = {name: value for name, value in detail.items() if name != "type"}
        shown.append(
            ShownDetail(
                api=registry.api_resources[known.api_resource],
                type=known.type,
                summary=_summarise(known.summary, detail),
                members=[(_visible(name), _visible(text)) for name, text in list_members(members)],
            )
        )
    return shown


def shown_summaries(registry: Registry, details: Iterable[Detail]) -> list[str | LocalText]:
    """Return a sentence for each object, once; of a type without one, or that the registry does not know, the type."""
    known = registry.authorization_details_types
    summaries = [
        (known[name].summary and _summarise(known[name].summary, detail)) or _visible(name)
        if (name := str(detail["type"])) in known
        else _visible(name)
        for detail in details
    ]
    return list({str(summary): summary for summary in summaries}.values())


def _summarise(summary: str | LocalText | None, detail: Detail) -> str | LocalText | None:
    if isinstance(summary, LocalText):
        texts = summary.by_language.items()
        return LocalText({tag: _visible(fill_placeholders(text, detail)) for tag, text in texts})
    return None if summary is None else _visible(fill_placeholders(summary, detail))


def _visible(text: str) -> str:
    return INVISIBLE.sub("", " ".join(text.split()))


def shorten_name(name: str) -> str:
    """Return a user's name, cut where it is too long; providers and directories may send any."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def shown_values(user_claims: Mapping[str, object], names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the claims that a user can read, each with its name; `sub` is not one of them."""
    texts = ((name, _text(user_claims.get(name))) for name in dict.fromkeys(names) if name != "sub")
    return [(name, text) for name, text in texts if text]


def _text(value: object) -> str:
    if isinstance(value, dict):  # an address (OIDC Core §5.1.1)
        value = cast("dict[str, object]", value).get("formatted")
    return value if isinstance(value, str) else ""


def device(user_agent: str | None) -> Mapping[str, str | bool | None]:
    """Guess what sent a User-Agent header, by the names that users know (RFC 9110 §10.1.5)."""

    def first(table: tuple[tuple[str, str], ...]) -> str | None:
        return next((name for name, pattern in table if re.search(pattern, user_agent or "")), None)

    system = first(_SYSTEMS)
    return {"browser": first(_BROWSERS), "system": system, "is_mobile": system in _MOBILE}


class PageOf(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A part of a list, and where it is."""

    items: Sequence[T]
    number: int
    """Counted from one."""
    last: int


def is_page_number(text: str | None) -> TypeGuard[str]:
    """Return whether a parameter can be the number of a page."""
    return text is not None and text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS


def page_of(items: Sequence[T], wanted: str | None) -> PageOf[T]:
    """Return the part that a query parameter asks for; the nearest that there is."""
    last = max(1, -(-len(items) // PER_PAGE))
    number = min(max(int(wanted) if is_page_number(wanted) else 1, 1), last)
    return PageOf(
        items=items[(number - 1) * PER_PAGE : number * PER_PAGE], number=number, last=last
    )
