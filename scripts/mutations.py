"""Small changes of the functions of a file, one at a time: an operator, a condition, a number, a statement."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from types import CodeType
from typing import cast

_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
LONGEST = 160
"""Characters of a change in a report."""
_NAMES = {"any": "all", "all": "any", "min": "max", "max": "min"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of one function."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    function: str
    """The qualified name of the outermost function around the change."""
    code: CodeType
    """What it does instead."""

    def __str__(self) -> str:
        """Return where and what the change is, for a report."""
        where = f"{self.file}:{self.line} {self.function} ({self.kind})"
        return f"{where}\n    - {self.before}\n    + {self.after}"


def find_mutants(file: str, source: str) -> list[Mutant]:
    """Return every change of a file that this module knows, in the order of its lines."""
    tree = ast.parse(source)
    found = [
        mutant
        for name, function in _outermost_functions(tree, "")
        for node, field, at in [*_places(function)]
        for mutant in _change(tree, file, (name, function), (node, field, at))
    ]
    return sorted(found, key=lambda mutant: mutant.line)


def _change(
    tree: ast.Module,
    file: str,
    named: tuple[str, _Function],
    place: tuple[ast.AST, str, int | None],
) -> Iterator[Mutant]:
    """Return the changes at one place; the tree is as before afterwards."""
    (name, function), (node, field, at) = named, place
    original = _get(node, field, at)
    line = getattr(original, "lineno", getattr(node, "lineno", function.lineno))
    before = _shorten(_text(node, original))
    for kind, changed in _changes(node, field, original):
        _put(node, field, at, changed)
        ast.fix_missing_locations(tree)
        code, after = _compile(tree, file, name, function), _shorten(_text(node, changed))
        _put(node, field, at, original)
        if code is not None:
            yield Mutant(
                file=file,
                line=line,
                kind=kind,
                before=before,
                after=after,
                function=name,
                code=code,
            )


def take_sample(mutants: Sequence[Mutant], number: int, seed: int) -> list[Mutant]:
    """Return so many at most: of each kind in turn, and of its lines any."""
    order = random.Random(seed)  # noqa: S311 - no secret
    kinds: dict[str, list[Mutant]] = {}
    for mutant in order.sample(mutants, len(mutants)):
        kinds.setdefault(mutant.kind, []).append(mutant)
    in_turn = chain.from_iterable(zip_longest(*kinds.values()))
    taken = [mutant for mutant in in_turn if mutant is not None][:number]
    return sorted(taken, key=lambda mutant: mutant.line)


def instrument(file: str, source: str, note: str, first: int) -> Iterator[CodeType]:
    """Return the functions of a file, with a call of `note` before each statement, of its line and `first`."""
    tree = ast.parse(source)
    for _, function in [*_outermost_functions(tree, "")]:
        for node in [*ast.walk(function)]:
            for field in ("body", "orelse", "finalbody"):
                found: object = getattr(node, field, None)
                if isinstance(found, list) and not isinstance(node, ast.ClassDef):
                    statements = cast("list[ast.stmt]", found)
                    noted = [(_call(note, first + each.lineno, each), each) for each in statements]
                    setattr(node, field, [*chain.from_iterable(noted)])
    ast.fix_missing_locations(tree)
    yield from _codes_in(compile(tree, file, "exec", dont_inherit=True))


def _call(name: str, number: int, statement: ast.stmt) -> ast.stmt:
    called = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(value=number)], [])
    return ast.copy_location(ast.Expr(called), statement)


def _outermost_functions(scope: ast.AST, prefix: str) -> Iterator[tuple[str, _Function]]:
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, _Function):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _outermost_functions(node, f"{prefix}{node.name}.")


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Return each field of the nodes in a body that may hold something else; annotations and defaults never do."""
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "args"} and not isinstance(
            node, ast.Call
        ):
            continue
        many = [*enumerate(cast("list[object]", value))] if isinstance(value, list) else []
        several: list[tuple[int | None, object]] = [*many]
        for at, each in several or [(None, cast("object", value))]:
            if isinstance(each, ast.AST):
                yield node, field, at
                yield from _places(each)


def _get(node: ast.AST, field: str, at: int | None) -> ast.AST:
    value = getattr(node, field)
    found: ast.AST = value if at is None else value[at]
    return found


def _put(node: ast.AST, field: str, at: int | None, changed: ast.AST) -> None:
    if at is None:
        setattr(node, field, changed)
    else:
        getattr(node, field)[at] = changed


def _changes(parent: ast.AST, field: str, node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Return what a node may be replaced by."""
    if type(node) in _OPERATORS:
        yield "operator", _OPERATORS[type(node)]()
    if field == "test" and isinstance(parent, ast.If):
        yield "condition", ast.copy_location(ast.Constant(value=False), node)
        yield "condition", ast.copy_location(ast.Constant(value=True), node)
    if isinstance(node, ast.Constant) and not isinstance(parent, ast.FormattedValue):
        yield from _other_constants(node)
    if isinstance(node, ast.comprehension) and node.ifs:
        changed = copy.copy(node)
        changed.ifs = []
        yield "filter", changed
    yield from _other_expressions(node)
    yield from _other_statements(node)


def _other_expressions(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.BoolOp):
        for at in range(len(node.values)):
            rest = [each for each in node.values if each is not node.values[at]]
            only = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            yield "operand", ast.copy_location(only, node)
    elif isinstance(node, ast.BinOp) and not isinstance(node.left, ast.Constant):
        yield "operand", node.left
    elif isinstance(node, ast.IfExp):
        yield "branch", node.body
        yield "branch", node.orelse
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not", node.operand
    elif isinstance(node, ast.Name) and node.id in _NAMES:
        yield "name", ast.copy_location(ast.Name(_NAMES[node.id], ast.Load()), node)


def _other_constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.value, bool):
        yield "constant", ast.copy_location(ast.Constant(value=not node.value), node)
    elif isinstance(node.value, int):
        yield "constant", ast.copy_location(ast.Constant(value=node.value + 1), node)


def _other_statements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Break):
        yield "loop", ast.copy_location(ast.Continue(), node)
    if isinstance(node, ast.Continue):
        yield "loop", ast.copy_location(ast.Break(), node)
    calls = isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await))
    if (calls and not ast.unparse(node).startswith("log.")) or isinstance(node, ast.AugAssign):
        yield "statement", ast.copy_location(ast.Pass(), node)


def _compile(tree: ast.Module, file: str, name: str, function: _Function) -> CodeType | None:
    """Return the code of a function in the changed tree; None if Python refuses it."""
    try:
        code = compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, TypeError):
        return None
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    return next(
        (one for one in _codes_in(code) if (one.co_qualname, one.co_firstlineno) == (name, first)),
        None,
    )


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)


def _text(parent: ast.AST, node: ast.AST) -> str:
    if isinstance(node, (ast.expr, ast.stmt)):
        return ast.unparse(node)
    if isinstance(node, ast.comprehension):
        return ast.unparse(node).strip()
    changed = copy.deepcopy(parent) if isinstance(parent, ast.expr) else parent
    return f"{ast.unparse(changed)} [{type(node).__name__}]"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
