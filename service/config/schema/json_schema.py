"""The JSON Schema of config.yaml, by which an editor completes and checks it."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from itertools import pairwise
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from service.config.reading.values import ANCHORS
from service.config.schema.file import ConfigurationFile
from service.model.catalogue import Catalogue
from service.model.client_entry import ClientEntry
from service.model.value_types import adapter_of

_REFERENCE = {"type": "string", "pattern": r"\$\{"}
_NOTES = ("description", "default")
_CONSTRAINTS = ("enum", "const", "pattern", "format", "minLength", "maxLength")


class _WithDocstrings(GenerateJsonSchema):
    """Describes each key by its docstring; pydantic would read them all at each start of the service."""

    def function_plain_schema(
        self, schema: core_schema.PlainValidatorFunctionSchema
    ) -> JsonSchemaValue:
        """Describe a section, whose own schema is built only now."""
        section = schema.get("metadata", {}).get("section")
        if section is None:
            return super().function_plain_schema(schema)
        return self.generate_inner(adapter_of(section).core_schema)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        made = super().dataclass_schema(schema)
        for section in [each for each in schema["cls"].__mro__ if is_dataclass(each)]:
            for name, text in _docstrings_of_attributes(section):
                made["properties"][name].setdefault("description", text)
        return made


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


def plain_json_schema(catalogue: Catalogue) -> dict[str, Any]:
    """Return the schema of values in which `${NAME}` and the like have been replaced."""
    schema = TypeAdapter(ConfigurationFile).json_schema(schema_generator=_WithDocstrings)
    client = schema["$defs"][ClientEntry.__name__]["properties"]
    for name, known in (
        ("token_endpoint_auth_method", [*catalogue.client_auth_methods]),
        ("default_response_mode", [*catalogue.response_modes]),
    ):
        client[name]["anyOf"][0] = {"enum": known, "type": "string"}
    return schema


def _open_to_references(node: object) -> object:
    """Return the schema with `${NAME}` allowed for numbers and for texts of a certain form."""
    if isinstance(node, list):
        return [_open_to_references(item) for item in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("dict[str, object]", node)
    opened = {
        key: value if key in _NOTES else _open_to_references(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
    kind = opened.get("type")
    is_free_text = kind == "string" and not any(key in opened for key in _CONSTRAINTS)
    if is_free_text or kind not in ("string", "integer", "number", "boolean"):
        return opened
    notes = {key: opened.pop(key) for key in _NOTES if key in opened}
    return {"anyOf": [opened, _REFERENCE], **notes}
