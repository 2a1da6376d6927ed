"""Rules on the types of authorization_details (RFC 9396 §5, §12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from service.config.detail_schemas import SchemaRefused, read_schema
from service.config.problem import Finding, warning
from service.config.schema.file import ConfigurationFile
from service.model.local_text import LocalText
from service.model.resources import AuthorizationDetailsTypeEntry
from service.protocol.templates import find_placeholders

_DECIDES_ELSEWHERE = frozenset(
    {
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"),
        *("patternProperties", "const", "enum"),
    }
)
"""Keywords by which a schema may know members that `properties` does not list."""


def schemas_can_be_used(file: ConfigurationFile) -> Iterator[Finding]:
    """Every schema is JSON Schema 2020-12, and refers to no other document."""
    for at, entry in enumerate(file.authorization_details_types):
        location = ("authorization_details_types", at)
        try:
            read_schema(entry)
        except SchemaRefused as refused:
            yield refused.finding.below(*location, "schema")
        if entry.schema is None:
            message = "has no schema, so objects of this type may hold anything"
            yield warning((*location, "type"), message, "RFC 9396 §5")


def summaries_name_members(file: ConfigurationFile) -> Iterator[Finding]:
    """Every placeholder names a member, which the schema knows: what it does not know would never be shown."""
    for at, entry in enumerate(file.authorization_details_types):
        location = ("authorization_details_types", at, "summary")
        try:
            unknown = {path for text in _summaries(entry) for path in find_placeholders(text)}
            schema = read_schema(entry)[0]
        except ValueError as error:
            yield Finding(location, str(error), "write {amount.currency} for a member of a member")
            continue
        except SchemaRefused:
            continue
        for path in sorted(unknown):
            if not _knows(schema, path):
                name = ".".join(path)
                yield warning(location, f"names {name}, which the schema does not know")


def _summaries(entry: AuthorizationDetailsTypeEntry) -> Iterator[str]:
    if isinstance(entry.summary, LocalText):
        yield from entry.summary.by_language.values()
    elif entry.summary is not None:
        yield entry.summary


def _knows(schema: object, path: tuple[str, ...]) -> bool:
    """Return whether a schema lists a member, as far as its `properties` alone decide that."""
    for name in path:
        if not isinstance(schema, dict):
            return True
        keywords = cast("Mapping[str, object]", schema)
        members = keywords.get("properties")
        if not _DECIDES_ELSEWHERE.isdisjoint(keywords) or not isinstance(members, dict):
            return True
        if name not in members:
            return name == "type"
        schema = cast("Mapping[str, object]", members)[name]
    return True


FILE_RULES = (schemas_can_be_used, summaries_name_members)
