"""Describes the differences of two configurations as lines for an operator."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeGuard, cast

import msgspec

from service.config.configuration import Configuration
from service.config.schema.file import Settings
from service.model.marks import is_secret
from service.model.registry import Registry

_HIDDEN_FIELDS = ("client_secrets", "secrets", "options", "properties", "schema")
"""Their values are not shown, as those of fields that are marked SECRET; options and properties may contain the key of an API, and a schema is long."""
_DERIVED = frozenset(
    {
        *("tenancy", "apis_by_identifier", "resources_by_scope", "admin_scopes", "lines"),
        "console_client",
        *("clients_by_mark", "permissions", "longest_token", "generation", "client_authorities"),
        *("default_signing_alg", "introspection_signing_alg", "is_valid", "position"),
    }
)
"""Fields that follow from other entries and fields, whose changes are shown."""
_RELOADED = frozenset(
    (
        *(f"admin.{key}" for key in ("allowed_users", "readers", "writers", "required_acr")),
        "signing.verify_only",
    )
)
"""Settings that a reload changes with the registry."""
_NAMING_FIELDS = ("username", "acr", "handler")


def settings_changes(before: Configuration, after: Configuration) -> Iterator[str]:
    """Yield the settings outside of the registry that differ and that only a restart applies, such as `server.port`."""
    for name in Settings.__struct_fields__:
        old, new = getattr(before, name), getattr(after, name)
        if isinstance(old, msgspec.Struct) and isinstance(new, msgspec.Struct):
            changed = (f"{name}.{key}" for key, *_ in _changed_fields(old, new))
            yield from (key for key in changed if key not in _RELOADED)
        elif old != new:
            yield name


def registry_changes(before: Registry, after: Registry) -> Iterator[str]:
    """Yield a line for each entry that was added, removed or changed, and for each field of the latter."""
    for kind in before.__struct_fields__:
        if kind in _DERIVED:
            continue
        old, new = _by_name(getattr(before, kind)), _by_name(getattr(after, kind))
        yield from (f"- {_entry(kind, name)}" for name in old if name not in new)
        yield from (f"+ {_entry(kind, name)}" for name in new if name not in old)
        for name in (name for name in new if name in old):  # in the order of the file, not of a set
            if old[name] is new[name] or old[name] == new[name]:
                continue
            changed = [
                f"    {key}: {_difference(was, is_now, is_hidden=_is_hidden(new[name], key))}"
                for key, was, is_now in _changed_fields(old[name], new[name])
                if key not in _DERIVED
            ]
            if changed:
                yield from (f"~ {_entry(kind, name)}", *changed)


def _entry(kind: str, name: str) -> str:
    return f"{kind}[{name}]" if name else kind


def _by_name(entries: object) -> Mapping[str, object]:
    """Return the entries of a list or section by their names; a section that is one entry has none."""
    if isinstance(entries, msgspec.Struct):
        return {"": entries}
    if isinstance(entries, dict):
        return cast("dict[str, object]", entries)
    if isinstance(entries, tuple):
        listed = cast("tuple[object, ...]", entries)
        return {_name(entry, at): entry for at, entry in enumerate(listed)}
    return {} if entries is None else {str(entries): entries}


def _name(entry: object, at: int) -> str:
    """Return the name of an entry of a list; one without a name is called by its place."""
    names = (str(getattr(entry, key)) for key in _NAMING_FIELDS if hasattr(entry, key))
    return next(names, str(at))


def _changed_fields(old: object, new: object) -> Iterator[tuple[str, object, object]]:
    for name in cast("msgspec.Struct", new).__struct_fields__:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield name, before, after


def _is_hidden(entry: object, field: str) -> bool:
    """Return whether the value of this field of an entry must not be shown."""
    types = {each.name: each.type for each in msgspec.structs.fields(cast("msgspec.Struct", entry))}
    return field in _HIDDEN_FIELDS or is_secret(types[field])


def _difference(before: object, after: object, *, is_hidden: bool) -> str:
    if is_hidden:
        return "changed"
    if _is_collection(before) and _is_collection(after):
        removed = [f"- {_shown(item)}" for item in before if item not in after]
        added = [f"+ {_shown(item)}" for item in after if item not in before]
        return "  ".join([*sorted(removed), *sorted(added)]) or "in another order"
    return f"{_shown(before)} -> {_shown(after)}"


def _is_collection(value: object) -> TypeGuard[Collection[object]]:
    return isinstance(value, tuple | frozenset | list)


def _shown(value: object) -> str:
    """Return a value as the file has it: YAML in one line, an entry without the keys that have their defaults."""
    if _is_collection(value):
        listed = [_shown(item) for item in value]
        return f"[{', '.join(sorted(listed) if isinstance(value, frozenset) else listed)}]"
    if isinstance(value, msgspec.Struct):
        value = {
            each.name: item
            for each in msgspec.structs.fields(value)
            if (item := getattr(value, each.name)) not in (None, each.default, {}, ())
            and each.name not in (*_HIDDEN_FIELDS, *_DERIVED)
            and not is_secret(each.type)
        }
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return "{" + ", ".join(f"{name}: {_shown(item)}" for name, item in items) + "}"
    return str(value)
