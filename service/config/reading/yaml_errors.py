"""Explains why a text is not YAML, with what to change, and shows the line of a wrong indent."""

from __future__ import annotations

import re

import yaml

from service.config.reading.yaml_tree import At, Mark, UnreadableYaml

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""YAML 1.2 §5.1."""
_KEY = re.compile(r"[ →]*(- +)*([\w.-]+:)?")
_NOT_INDENTED_ALIKE = (
    "did not find expected key",
    "did not find expected '-' indicator",
    "did not find expected <document start>",
    "mapping values are not allowed in this context",
)
_SPACES = "indent with spaces, two for each level"
_NEIGHBOURS = "indent it like the keys that it belongs with"


def explain_yaml_error(
    error: yaml.YAMLError, text: str, last_scalar: yaml.ScalarEvent | None
) -> UnreadableYaml:
    """Return what the parser failed at; where that is the end of a quote, the quote."""
    if not isinstance(error, yaml.MarkedYAMLError):
        found = _FORBIDDEN.search(text)
        mark = Mark.after(text[: found.start()]) if found else Mark()
        return UnreadableYaml("the file has characters that YAML does not allow", mark)
    quote = _open_quote(error, last_scalar)
    if quote is not None:
        return quote
    mark = Mark.of(error.problem_mark)
    line = "".join(text.split("\n")[mark.line - 1 : mark.line])
    problem = error.problem or "not YAML"
    return _indent_error(problem, line, mark) or UnreadableYaml(
        problem, mark, hint=_hint(line, mark)
    )


def _open_quote(
    error: yaml.MarkedYAMLError, last_scalar: yaml.ScalarEvent | None
) -> UnreadableYaml | None:
    if error.context == "while scanning a quoted scalar":
        return UnreadableYaml("this quote is not closed", Mark.of(error.context_mark))
    if last_scalar is None or last_scalar.style not in {"'", '"'}:
        return None
    begin, end = Mark.of(last_scalar.start_mark), Mark.of(last_scalar.end_mark)
    if not begin.line < end.line == _line_of(error.problem_mark):
        return None
    return UnreadableYaml(f"this quote ends in line {end.line} only, and more follows there", begin)


def _line_of(position: At) -> int:
    return Mark.of(position).line


def _indent_error(problem: str, line: str, mark: Mark) -> UnreadableYaml | None:
    """Return the error of a line that begins with a tab or at a column that no line above begins at."""
    indent = len(line) - len(line.lstrip())
    before = line[: mark.column - 1].strip()
    if "\t" in line[:indent] and not before:
        at = Mark(mark.line, line.index("\t") + 1)
        message, hint = "a tab cannot indent a line", _SPACES
    elif problem in _NOT_INDENTED_ALIKE and (not before or before.isidentifier()):
        at = Mark(mark.line, indent + 1)
        message, hint = "the indent of this line fits no line above it", _NEIGHBOURS
    else:
        return None
    return UnreadableYaml(message, at, hint=hint, excerpt=_excerpt(line, at.column))


def _excerpt(line: str, column: int) -> str:
    """Return the line with a caret below; the value is left out, because it may be a secret."""
    visible = line.replace("\t", "→")
    key = _KEY.match(visible)
    shown = key.group().rstrip() if key else ""
    rest = " …" if len(visible.rstrip()) > len(shown) else ""
    return f"{shown}{rest}\n{' ' * (column - 1)}^"


def _hint(line: str, mark: Mark) -> str | None:
    if "${" in line:
        return "inside of [ ] and { }, ${…} needs quotes"
    if line[mark.column - 1 : mark.column] in {":", "@", "`", "%"}:
        return "a text that holds a colon and a space, or begins with @, ` or %, needs quotes"
    return None
