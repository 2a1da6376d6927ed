"""The house keeps its shape: small files, small functions, names that say what is inside."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40
DRAWERS = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}

REPOSITORY = Path(__file__).parents[2]
SOURCES = sorted((REPOSITORY / "service").rglob("*.py"))
each_source = pytest.mark.parametrize(
    "source", SOURCES, ids=lambda source: str(source.relative_to(REPOSITORY))
)


@each_source
def test_a_file_is_small(source: Path) -> None:
    assert len(source.read_text().splitlines()) <= MAX_FILE_LINES


@each_source
def test_a_function_is_small(source: Path) -> None:
    assert [name for name, lines in functions_of(source) if lines > MAX_FUNCTION_LINES] == []


@each_source
def test_a_file_says_which_question_it_answers(source: Path) -> None:
    assert ast.get_docstring(ast.parse(source.read_text()))


@each_source
def test_a_name_is_no_drawer(source: Path) -> None:
    assert not DRAWERS & set(source.relative_to(REPOSITORY).with_suffix("").parts)
    assert not source.stem.startswith("base_")


def functions_of(source: Path) -> Iterator[tuple[str, int]]:
    """Every function of a file with the number of lines of its body."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            yield node.name, node.end_lineno - node.body[0].lineno + 1
