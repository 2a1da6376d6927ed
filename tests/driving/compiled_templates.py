"""Compiles a template once for all services of a run in which its constants are the same: compiling takes longer than most tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

import pytest
from jinja2 import nodes

from service.web.pages.templates import Constants, Templates


class Constant(NamedTuple):
    """A call whose value has become a part of a template."""

    module: str | None
    """The template of a macro; None for a function."""
    name: str
    arguments: tuple[Any, ...]
    by_name: dict[str, Any]
    value: Any

    def is_same_in(self, environment: Any) -> bool:
        """Return whether the call has the same value in another environment."""
        module = self.module and environment.get_template(self.module).module
        called = getattr(module, self.name) if module else environment.globals[self.name]
        return bool(called(*self.arguments, **self.by_name) == self.value)


def place_of(constants: Constants, called: Any) -> tuple[str | None, str]:
    """Return the template of a macro, and the name of what is called."""
    if isinstance(called, nodes.Getattr):
        module: Any = constants.modules[called.node.name]  # type: ignore[attr-defined]
        return module.__name__, called.attr
    return None, called.name


def compile_once(patch: pytest.MonkeyPatch) -> None:
    """Keep what is compiled, with the constants by which it may be used again."""
    kept: dict[tuple[object, ...], list[tuple[list[Constant], CodeType]]] = defaultdict(list)
    seen: list[list[Constant]] = []
    find, compile_anew = Constants.find_function, Templates.compile

    def find_and_note(self: Any, called: nodes.Expr) -> Callable[..., Any] | None:
        function = find(self, called)
        if function is None:
            return None
        module, name = place_of(self, called)

        def call(*arguments: Any, **by_name: Any) -> Any:
            value = function(*arguments, **by_name)
            seen[-1].append(Constant(module, name, arguments, by_name, value))
            return value

        return call

    def compile_or_use_again(self: Any, source: str, name: str, filename: str) -> CodeType:
        variants = kept[source, name, filename, self.globals.get("lang")]
        for constants, code in variants:
            if all(one.is_same_in(self) for one in constants):
                return code
        seen.append([])
        try:
            code = compile_anew(self, source, name, filename)
        finally:
            constants = seen.pop()
        variants.append((constants, code))
        return code

    patch.setattr(Constants, "find_function", find_and_note)
    patch.setattr(Templates, "compile", compile_or_use_again)
