"""Says what does not fit in the words of a person who edits a file, with a remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from service.config.problem import Finding, Location, find_closest, nearest
from service.config.schema.familiar_keys import find_familiar
from service.model.marks import Misfit, Unfit

_MOST_LISTED = 20
"""As many keys as fit into a hint."""
_BOOLS: Mapping[str, str] = {
    **dict.fromkeys(("yes", "y", "on"), "write true"),
    **dict.fromkeys(("no", "n", "off"), "write false"),
}
"""The words for true and false of YAML 1.1."""
_EMPTY: Mapping[str, str] = {
    "list": "it is empty: remove the key, or write []",
    "keys and values": "it is empty: remove the key, or write {}",
}
"""Remedies of a key without a value where a list, or keys and values, are expected."""
_SECRET_LISTS = frozenset({"client_secrets", "secrets"})
_PLAIN_WORDS = re.compile(r"{word}([\s,]+{word})*".format(word=r"[\w/](?:[\w./:+?=&%~-]*[\w/])?"))


def schema_findings(error: Unfit) -> Iterator[Finding]:
    """Yield everything that does not fit as a finding; an unknown key and a wrong word come with the nearest right one."""
    meant = {find_meant(misfit) for misfit in error.misfits}
    for misfit in error.misfits:
        is_misspelt = misfit.kind == "missing" and misfit.location in meant
        if not is_misspelt:
            at_key = misfit.at_key or misfit.kind == "unknown"
            yield Finding(misfit.location, misfit.message, _remedy(misfit), at_key=at_key)


def explain_unknown_key(
    location: Location, keys: Collection[str], unused: Collection[str] = ()
) -> str:
    """Return what to write instead of a key that is not known, one that is not used yet if there is any like it."""
    familiar = find_familiar(location)
    if familiar is not None:
        return f"did you mean {familiar}?" if familiar in keys else familiar
    listed = f"known keys here: {', '.join(keys)}"
    many = "docs/configuration.md lists the keys"
    meant = nearest(location[-1], unused) or nearest(location[-1], keys)
    return meant or (listed if len(keys) <= _MOST_LISTED else many)


def find_meant(misfit: Misfit) -> Location | None:
    """Return the location of the key that an unknown one is a misspelling of, where that is not used yet."""
    if misfit.kind != "unknown":
        return None
    *parent, key = misfit.location
    meant = find_familiar(misfit.location) or find_closest(str(key), misfit.unused)
    return (*parent, meant) if meant and meant in misfit.unused else None


def _remedy(misfit: Misfit) -> str | None:
    """Return what to write instead, without the value if it may be a secret."""
    is_hashed = _SECRET_LISTS & set(misfit.location[-2:]) and misfit.location[0] != "events"
    if is_hashed and isinstance(misfit.value, str):
        return "write `- sha256: …` as `token-service hash-secret` prints it"
    if misfit.value is None and misfit.kind in _EMPTY:
        return _EMPTY[misfit.kind]
    remedy = _REMEDIES.get(misfit.kind)
    return remedy and remedy(misfit)


def _write_quotes(misfit: Misfit) -> str | None:
    return "put it into quotes" if isinstance(misfit.value, bool | int | float) else None


def _write_list(misfit: Misfit) -> str | None:
    value = misfit.value
    if isinstance(value, dict):
        return "write a list, whose entries begin with -"
    if not isinstance(value, str):
        return None
    if not misfit.is_secret and _PLAIN_WORDS.fullmatch(value):
        return f"write [{', '.join(value.replace(',', ' ').split())}]"
    return "write a list: [one, two]"


def _write_below(misfit: Misfit) -> str | None:
    key, value = misfit.location[-1] if misfit.location else None, misfit.value
    if isinstance(value, list) and "list" in misfit.keys:
        return f"write {key}: {{list: […]}}"
    if isinstance(value, str) and "url" in misfit.keys:
        return f"write {key}: {{url: …}}"
    return None


_REMEDIES: Mapping[str, Callable[[Misfit], str | None]] = {
    "unknown": lambda misfit: explain_unknown_key(misfit.location, misfit.keys, misfit.unused),
    "word": lambda misfit: nearest(misfit.value, misfit.words),
    "bool": lambda misfit: _BOOLS.get(str(misfit.value).lower()),
    "text": _write_quotes,
    "list": _write_list,
    "keys and values": _write_below,
}
