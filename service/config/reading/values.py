"""The tree as plain values: what a scalar means, with its references replaced."""

from __future__ import annotations

import math
import re

from service.config.problem import Finding, Location
from service.config.reading.interpolation import Interpolation, Unresolved, is_one_reference
from service.config.reading.yaml_tree import Node, Scalar, Sequence

Value = bool | int | float | str | list["Value"] | dict[str, "Value"] | None

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMERIC = frozenset("-+.0123456789")
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,3})?")


def resolve(text: str) -> bool | int | float | str | None:
    """What an unquoted scalar means; unlike YAML 1.1, `no` is a word and `22:30` no number (YAML 1.2 §10.3)."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC:
        return text
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


class Reader:
    """Turns the tree into values, and remembers what could not be and what came from outside."""

    def __init__(self, interpolation: Interpolation) -> None:
        self.findings: list[Finding] = []
        self.replaced: dict[Location, str] = {}
        """The text behind each value that is one whole reference and does not look like text."""
        self._interpolation = interpolation

    def read(self, node: Node, location: Location = ()) -> Value:
        """The value of a node and of all below it."""
        if isinstance(node, Scalar):
            if "${" in node.text:
                return self._replaced(node, location)
            return resolve(node.text) if node.plain else node.text
        if isinstance(node, Sequence):
            return [self.read(item, (*location, at)) for at, item in enumerate(node.items)]
        return {key: self.read(value, (*location, key)) for key, value in node.values.items()}

    def _replaced(self, node: Scalar, location: Location) -> Value:
        try:
            text = self._interpolation.replace(node.text)
        except Unresolved as error:
            self.findings.append(Finding(location, error.message, error.hint))
            return ""
        if not (node.plain and is_one_reference(node.text)):
            return text
        value = resolve(text)
        if not isinstance(value, str):
            self.replaced[location] = text
        return value
