"""Finds wording for which there is a common term, or which reads as a riddle: `python -m scripts.plain_words`.

Each pattern has no good use here, so there is no list of exceptions.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]

TEXT: Mapping[str, str] = {
    r"scripts? of other origins": "CORS",
    r"(system|store|server|directory|provider|issuer|endpoint|Redis) (that )?is away": "is unavailable",
    r"questions? (to|wait for) (the store|users.source|Redis|the (user )?directory)": "request",
    r"(code|token|assertion|request|challenge|proof)s? (is|are|was|were) (not )?used up": "consumed",
}
"""The term that replaces a wording, in any text."""

DOCSTRING = re.compile(r"(What|Whom|Whose|Who|Which|How|Where|When|Why|Does)\b")
"""The first word of a docstring of a module, class or function that is no statement."""

TEST_NAME = re.compile(
    r"test_\w*(stranger|nobody|somebody|whoever|used_up|_beside_|_(is|are|was)_away)"
)
"""Parts of names of tests: name the caller, say consumed, with and unavailable."""

ATTRIBUTE = re.compile(r"(What|Whom|Whose)\b")
"""The first word of a docstring of an attribute in service/ that is no noun."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (ast.Module, ast.ClassDef, *_FUNCTIONS)
_WRITTEN_ELSEWHERE = (
    "CHANGELOG.md",
    "scripts/plain_words.py",
    "tests/documentation/test_plain_words.py",
)


def find_in_text(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with a wording that has a common term, and the term."""
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, term in TEXT.items():
            found = re.search(rf"\b{pattern}\b", line, re.IGNORECASE)
            if found is not None:
                yield number, f"say “{term}” for “{found[0]}”"


def find_in_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings that begin with a question word, and the tests whose names have words to avoid."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _FUNCTIONS) and (part := TEST_NAME.match(node.name)) is not None:
            yield node.lineno, f"a plainer word than “{part[1].strip('_')}” in {node.name}"
        if isinstance(node, _DOCUMENTED):
            found = DOCSTRING.match(ast.get_docstring(node) or "")
            if found is not None:
                line = 1 if isinstance(node, ast.Module) else node.lineno
                yield line, f"a docstring is a statement, and does not begin with “{found[0]}”"


def find_in_attributes(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of attributes that begin with a question word."""
    for node in ast.walk(ast.parse(text)):
        body = node.body if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)) else []
        for attribute, documented in pairwise(body):
            if isinstance(attribute, (ast.Assign, ast.AnnAssign)) and isinstance(
                documented, ast.Expr
            ):
                value = documented.value
                words = value.value if isinstance(value, ast.Constant) else None
                found = ATTRIBUTE.match(words) if isinstance(words, str) else None
                if found is not None:
                    yield documented.lineno, f"say what it is, not “{found[0]} …”"


def find_all() -> Iterator[str]:
    """Yield all findings in the files that Git knows."""
    listed = subprocess.check_output(
        ["git", "ls-files", "*.py", "*.md"],
        cwd=REPOSITORY,
        text=True,
    )
    for name in listed.splitlines():
        path = REPOSITORY / name
        if name not in _WRITTEN_ELSEWHERE and path.exists():
            text = path.read_text(encoding="utf-8")
            found = [*find_in_text(text), *(find_in_python(text) if name.endswith(".py") else ())]
            found += (
                find_in_attributes(text)
                if name.startswith("service/") and name.endswith(".py")
                else ()
            )
            yield from (f"{name}:{line}: {problem}" for line, problem in sorted(found))


if __name__ == "__main__":
    sys.exit("\n".join(find_all()) or None)
