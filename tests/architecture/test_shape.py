"""The house keeps its shape: small files, small functions, names that say what is inside."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from service.protocol import errors

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 40
COSTLY = {
    *("charset", "content_type", "cookies", "forwarded", "http_range", "json", "multipart", "post"),
    *("if_match", "if_modified_since", "if_none_match", "if_range", "if_unmodified_since"),
    *("host", "query_string", "text", "url"),
}
"""What aiohttp reads from a request by parsers whose cost, or whose trust in the caller, is too high."""

DRAWERS = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}

ERRORS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.OAuthError)
}

REPOSITORY = Path(__file__).parents[2]
SOURCES = {
    path.relative_to(REPOSITORY): path.read_text()
    for package in ("service", "api/oauth_resource_server")
    for path in (REPOSITORY / package).rglob("*.py")
}


def test_a_file_is_small() -> None:
    lines = {path: len(text.splitlines()) for path, text in SOURCES.items()}
    assert {path: count for path, count in lines.items() if count > MAX_FILE_LINES} == {}


def test_a_function_is_small() -> None:
    long = {name: lines for name, lines in functions() if lines > MAX_FUNCTION_LINES}
    assert long == {}


def test_file_says_which_request_it_answers() -> None:
    assert [path for path, text in SOURCES.items() if not ast.get_docstring(ast.parse(text))] == []


def test_a_module_is_no_drawer() -> None:
    assert [path for path in SOURCES if DRAWERS & set(path.with_suffix("").parts)] == []
    assert [path for path in SOURCES if path.stem.startswith("base_")] == []


def test_the_kit_for_apis_needs_nothing_of_the_service() -> None:
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else name.name) or "."
        for path, text in SOURCES.items()
        if path.is_relative_to("api")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    rooms = {name.split(".")[0] for name in imported} - sys.stdlib_module_names
    libraries = {"joserfc", "pytest", "aiohttp", "django", "fastapi", "flask", "litestar"}
    assert rooms == {"oauth_resource_server", "starlette", *libraries}


def test_no_lazy_parser_of_aiohttp_is_used() -> None:
    used = {
        f"{path}:{node.lineno} request.{node.attr}"
        for path, text in SOURCES.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in COSTLY
        if isinstance(node.value, ast.Name) and node.value.id == "request"
        if any(
            path.is_relative_to(f"service/{room}")
            for room in ("web", "outgoing", "endpoints", "ciba")
        )
    }
    assert used == set()


def test_a_description_of_an_error_is_ascii() -> None:
    said = {
        f"{path}:{text.lineno} {text.value}"
        for path, source in SOURCES.items()
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute)
        if (call.func.id if isinstance(call.func, ast.Name) else call.func.attr) in ERRORS
        for text in ast.walk(call)
        if isinstance(text, ast.Constant) and isinstance(text.value, str)
        if not text.value.isascii()
    }
    assert said == set()


def functions() -> Iterator[tuple[str, int]]:
    """Every function of the service with the number of lines of its body."""
    for path, text in SOURCES.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                yield f"{path}:{node.lineno} {node.name}", node.end_lineno - node.body[0].lineno + 1
