"""The JSON Schema of config.yaml, by which an editor completes and checks it."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from types import NoneType
from typing import Annotated, Any, Literal, cast, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from service.config.convert import members_of
from service.config.reading.values import ANCHORS
from service.config.schema.file import ConfigurationFile
from service.model.catalogue import Catalogue
from service.model.client_entry import ClientEntry
from service.model.marks import WrittenAs

Schema = dict[str, Any]

_REFERENCE = {"type": "string", "pattern": r"\$\{"}
_NOTES = ("description", "default")
_CONSTRAINTS = ("enum", "const", "pattern", "format", "minLength", "maxLength")
_TYPES: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    object: {},
}


class _Definitions:
    """Makes the schema of each struct once, by its name."""

    def __init__(self) -> None:
        self.made: dict[str, Schema] = {}

    def schema_of(self, annotation: Any) -> Schema:
        """Return the schema of a type and its marks."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self._marked(annotation)
        if origin is Literal:
            words = [*arguments]
            return {"type": "string", **({"const": words[0]} if not words[1:] else {"enum": words})}
        if origin in (tuple, frozenset):
            unique = {"uniqueItems": True} if origin is frozenset else {}
            return {"type": "array", "items": self.schema_of(arguments[0]), **unique}
        if origin is dict:
            return {"type": "object", **self._entries(*arguments)}
        if members_of(annotation) != (annotation,):
            return _any_of(*map(self.schema_of, arguments))
        return {**_TYPES[annotation]} if annotation in _TYPES else self._reference(annotation)

    def _marked(self, annotation: Any) -> Schema:
        marks = annotation.__metadata__
        written = [mark for mark in marks if isinstance(mark, WrittenAs)]
        if written:
            return _any_of(*(dict(form) for form in written[0].forms))
        schema = self.schema_of(annotation.__origin__)
        for mark in marks:
            if isinstance(mark, msgspec.Meta):
                schema |= _constraints(mark, str(schema.get("type")))
        return schema

    def _entries(self, key: Any, value: Any) -> Schema:
        """Return the schema of the keys and values of a mapping."""
        keys, values = self.schema_of(key), self.schema_of(value)
        del keys["type"]
        if "pattern" in keys:
            return {"patternProperties": {keys["pattern"]: values}}
        names = {"propertyNames": keys} if keys else {}
        return {"additionalProperties": values, **names}

    def _reference(self, struct: type[msgspec.Struct]) -> Schema:
        if struct.__name__ not in self.made:
            self.made[struct.__name__] = {}  # its place
            self.made[struct.__name__] = self.of_struct(struct)
        return {"$ref": f"#/$defs/{struct.__name__}"}

    def of_struct(self, struct: type[msgspec.Struct]) -> Schema:
        """Return the schema of a mapping with these keys."""
        texts = dict(_docstrings(struct))
        fields = msgspec.structs.fields(struct)
        required = [field.name for field in fields if field.required]
        return {
            "type": "object",
            "description": inspect.cleandoc(struct.__doc__ or ""),
            "properties": {
                field.name: {
                    **self.schema_of(field.type),
                    **_default(field),
                    **({"description": texts[field.name]} if field.name in texts else {}),
                }
                for field in fields
            },
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }


def _any_of(*schemas: Schema) -> Schema:
    """Return the schema of any of these, without one anyOf within another."""
    if len(schemas) == 1:
        return schemas[0]
    flat = [form for schema in schemas for form in schema.get("anyOf", [schema])]
    return {"anyOf": flat}


def _constraints(meta: msgspec.Meta, kind: str) -> Schema:
    unit = {"array": "Items", "object": "Properties"}.get(kind, "Length")
    found = {
        "minimum": meta.ge,
        "maximum": meta.le,
        f"min{unit}": meta.min_length,
        f"max{unit}": meta.max_length,
        "pattern": meta.pattern,
    }
    return {name: limit for name, limit in found.items() if limit is not None}


def _default(field: FieldInfo) -> Schema:
    """Return the default as a file would have it; that of a mapping says nothing."""
    if field.default is msgspec.NODEFAULT:
        return {}
    return {
        "default": msgspec.json.decode(msgspec.json.encode(field.default, order="deterministic"))
    }


def _docstrings(struct: type) -> Iterator[tuple[str, str]]:
    """Yield the keys of a struct, and of those that it inherits from, with their docstrings."""
    for each in reversed(struct.__mro__):
        if issubclass(each, msgspec.Struct) and each.__module__ != "msgspec":
            yield from _docstrings_of_attributes(each)


@cache
def _classes_of(module: str) -> Mapping[str, ast.ClassDef]:
    """Return the source of a module's classes; `inspect` would parse the whole module for each of them."""
    parsed = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in parsed.body if isinstance(node, ast.ClassDef)}


def _docstrings_of_attributes(parent: type) -> Iterator[tuple[str, str]]:
    for attribute, after in pairwise(_classes_of(parent.__module__)[parent.__name__].body):
        if isinstance(attribute, ast.AnnAssign) and isinstance(after, ast.Expr):
            text = cast("str", ast.literal_eval(after.value))
            yield ast.unparse(attribute.target), inspect.cleandoc(text)


def json_schema(catalogue: Catalogue) -> dict[str, object]:
    """Return the schema (JSON Schema 2020-12) with every key's documentation and default."""
    opened = cast("dict[str, object]", _open_to_references(plain_json_schema(catalogue)))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config.yaml of the token service",
        **opened,
        "patternProperties": {f"^{ANCHORS}": {}},
    }


def plain_json_schema(catalogue: Catalogue) -> Schema:
    """Return the schema of values in which `${NAME}` and the like have been replaced."""
    definitions = _Definitions()
    schema = definitions.of_struct(ConfigurationFile)
    client = definitions.made[ClientEntry.__name__]["properties"]
    for name, known in (
        ("token_endpoint_auth_method", [*catalogue.client_auth_methods]),
        ("default_response_mode", [*catalogue.response_modes]),
    ):
        client[name]["anyOf"][0] = {"enum": known, "type": "string"}
    return {"$defs": dict(sorted(definitions.made.items())), **schema}


def _open_to_references(node: object) -> object:
    """Return the schema with `${NAME}` allowed for numbers and for texts of a certain form."""
    if isinstance(node, list):
        return [_open_to_references(item) for item in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("dict[str, object]", node)
    opened = {
        key: value if key in _NOTES else _open_to_references(value) for key, value in schema.items()
    }
    kind = opened.get("type")
    is_free_text = kind == "string" and not any(key in opened for key in _CONSTRAINTS)
    if is_free_text or kind not in ("string", "integer", "number", "boolean"):
        return opened
    notes = {key: opened.pop(key) for key in _NOTES if key in opened}
    return {"anyOf": [opened, _REFERENCE], **notes}
