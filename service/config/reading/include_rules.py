"""What belongs into an included file?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.config.problem import Finding
from service.config.reading.values import Value
from service.config.schema.file import ConfigurationFile
from service.config.schema.findings import nearest

LISTS: tuple[tuple[str, ...], ...] = (
    ("api_resources",),
    ("api_scopes",),
    ("identity_resources",),
    ("clients",),
    ("extension_grants",),
    ("identity_providers",),
    ("tenants",),
    ("authentication_contexts",),
    ("users", "list"),
)
"""The lists of the registry, which several files may make up."""
_SECTIONS = tuple(dict.fromkeys(location[0] for location in LISTS))


def misplaced(values: Value) -> Iterator[Finding]:
    """What an included file holds beside lists of the registry."""
    if not isinstance(values, dict):
        yield Finding((), "expected keys and values")
        return
    for key in values:
        if key == "include":
            message = "an included file includes no other"
            yield Finding((key,), message, "name it in the main file", at_key=True)
        elif key not in _SECTIONS:
            known = key in ConfigurationFile.model_fields
            message = "stands in the main file only" if known else "unknown key"
            hint = nearest(key, _SECTIONS) or f"known keys here: {', '.join(_SECTIONS)}"
            yield Finding((key,), message, hint, at_key=True)
    yield from _not_lists({key: values[key] for key in _SECTIONS if key in values})


def _not_lists(sections: Mapping[str, Value]) -> Iterator[Finding]:
    for key, value in sections.items():
        if key != "users":
            if not isinstance(value, list):
                yield Finding((key,), "expected a list")
        elif not isinstance(value, dict):
            yield Finding((key,), "expected keys and values")
        else:
            yield from _not_users(value)


def _not_users(users: Mapping[str, Value]) -> Iterator[Finding]:
    for key, value in users.items():
        if key != "list":
            message, hint = "stands in the main file only", "here is only users.list"
            yield Finding(("users", key), message, hint, at_key=True)
        elif not isinstance(value, list):
            yield Finding(("users", key), "expected a list")
