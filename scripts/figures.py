"""Counts what a reader of service/ has to know: `python -m scripts.figures [FOLDER]`."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

FEATURES = {
    "CIBA": r"(?i:ciba|backchannel_auth)",
    "second factors": r"(?i:second.?factor)",
    "workloads": r"(?i:workload)",
    "tenants": r"(?i:tenant)",
}
"""What a file says that a change of the feature may have to touch."""
SMALL = 45
"""Lines below which a file hardly has an idea of its own."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


def main(folder: Path) -> None:
    """Print the figures, one a line."""
    texts = {file: file.read_text() for file in sorted(folder.rglob("*.py"))}
    trees = [ast.parse(text) for text in texts.values()]
    lines = {file: text.count("\n") for file, text in texts.items()}
    imports = [node for tree in trees for node in _find(tree, _IMPORTS)]
    within = {id(node) for tree in trees for node in _find_late_imports(tree)}
    figures = {
        "lines": sum(lines.values()),
        "files": len(lines),
        "lines of imports": sum(_lines_of(node) for node in imports),
        "classes": sum(1 for tree in trees for _ in _find(tree, ast.ClassDef)),
        f"files under {SMALL} lines": sum(1 < count < SMALL for count in lines.values()),
        "imports inside functions": len(within),
    }
    for name, pattern in FEATURES.items():
        found = [file for file, text in texts.items() if re.search(pattern, text)]
        figures[f"{name}: files"] = len(found)
        figures[f"{name}: folders"] = len({file.parent for file in found})
    for name, figure in figures.items():
        print(f"{name:28}{figure:>8,}")


def _find(tree: ast.AST, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    return (node for node in ast.walk(tree) if isinstance(node, kind))


def _find_late_imports(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the imports in bodies of functions."""
    for function in _find(tree, _FUNCTIONS):
        yield from _find(function, _IMPORTS)


def _lines_of(node: ast.AST) -> int:
    return int(getattr(node, "end_lineno", 0)) - int(getattr(node, "lineno", 0)) + 1


if __name__ == "__main__":
    main(Path(*sys.argv[1:]) if sys.argv[1:] else Path("service"))
