"""Renders templates by aiohttp-jinja2: the operator's own, and the built-in ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import aiohttp_jinja2
import jinja2
import msgspec
from aiohttp import web
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Context, Macro, markup_join
from jinja2.utils import missing
from jinja2.visitor import NodeTransformer
from markupsafe import Markup

from service.config.problem import CannotServe, Finding
from service.config.schema.file import ConfigurationFile
from service.web.pages.html import as_html, escape
from service.web.pages.looks import BUILT_IN, FOLDER, folders_of

if TYPE_CHECKING:
    from service.web.pages.locales import Language

FILTERS = ("local", "ago", "date", "date_time", "span", "iso")
"""The filters of templates: methods of `Language`."""

CONSTANT = ("_", "url", "has_asset")
"""The functions of templates whose value for the same arguments is the same on every page of a language, but for files of tenants."""


GIVING = (nodes.Name, nodes.Macro, nodes.Import, nodes.FromImport)
"""The nodes of a template that can give a name to something of its own."""


class Names(dict[str, Any]):
    """The names that a page knows; Jinja asks for some that no page gives."""

    def __missing__(self, _: str) -> object:
        return missing


class PageContext(Context):
    """The names of a page in one map, so that C finds them; each block asks for its own, some fifty in all."""

    def __init__(
        self,
        environment: jinja2.Environment,
        parent: dict[str, Any],
        name: str | None,
        blocks: Any,
        globals: object = None,  # noqa: A002 - Jinja's name
    ) -> None:
        """Leave out the names of the globals: Jinja compares them with those of each template that is imported, which has the same."""
        super().__init__(environment, Names(parent), name, blocks)
        self.vars = self.parent
        own: Any = self
        own.resolve_or_missing = self.vars.__getitem__

    def call(
        self,
        called: Any,
        /,
        *args: Any,
        _block_vars: Any = None,
        _loop_vars: Any = None,
        **values: Any,
    ) -> Any:
        """Call what a template calls. Of all that it reaches only macros take something more, which Jinja looks for at each call."""
        if type(called) is not Macro:
            return called(*args, **values)
        macro: Any = called
        names = macro.arguments
        if values:
            args += tuple([values.pop(name, missing) for name in names[len(args) :]])
        else:
            args += (missing,) * (len(names) - len(args))
        takes_more = macro.caller or macro.catch_kwargs or macro.catch_varargs
        if values or len(args) > len(names) or takes_more:
            return macro(self.eval_ctx, *args, **values)
        return as_html(macro._func(*args))  # noqa: SLF001 - what a macro calls once it has sorted its arguments, which takes longer


class PageGenerator(CodeGenerator):
    """Writes the code of templates without marking as HTML what only becomes a part of the page; a mark takes longer than all else."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("environment.escape(")

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802 - Jinja's name
        if type(node.value) is Markup:
            self.write(f"environment.as_html({str(node.value)!r})")
        else:
            super().visit_Const(node, frame)


class Templates(jinja2.Environment):
    """Compiles all templates once for each language, with the texts that are constant in it.

    All have the same names: maps of maps, one for each template, take a sixth of the time of a page.
    """

    code_generator_class = PageGenerator
    context_class = PageContext
    as_html = staticmethod(as_html)
    escape = staticmethod(escape)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._by_language: dict[str, jinja2.Environment] = {}

    def in_language(self, language: Language) -> jinja2.Environment:
        """Return the environment of the pages in a language, with its names and filters."""
        if (known := self._by_language.get(language.tag)) is not None:
            return known
        made = self._by_language[language.tag] = self.overlay()
        made.globals = {**self.globals, **language.names}
        made.filters = {**self.filters, **{name: getattr(language, name) for name in FILTERS}}
        return made

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        return {**self.globals, **d} if d else self.globals

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Parse a template; in a language, what is constant becomes one with the text around it."""
        parsed = super()._parse(source, name, filename)
        if self.overlayed:
            Constants(self, parsed).visit(parsed)
        return parsed


class Constants(NodeTransformer):
    """Replaces calls of constant functions and of macros, where all arguments are constants.

    A macro that is imported without context reads nothing else of a page.
    """

    def __init__(self, environment: jinja2.Environment, parsed: nodes.Template) -> None:
        known: Any = environment.globals
        # Once: a walk through a template takes as long as parsing it.
        giving = list(parsed.find_all(GIVING))
        own = Counter(_names_given_by(giving))
        self._constant: Mapping[str, Callable[..., Any]] = {
            name: known[name] for name in CONSTANT if name not in own
        }
        self.modules: Mapping[str, object] = {
            one.target: environment.get_template(one.template.value).module
            for one in giving
            if isinstance(one, nodes.Import)
            and isinstance(one.template, nodes.Const)
            and not one.with_context
            and own[one.target] == 1
        }

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        function = self.find_function(node.node)
        values = [*node.args, *[one.value for one in node.kwargs]]
        if function is None or not all(map(_is_constant, values)):
            return node
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            return node
        by_name = {one.key: one.value.as_const() for one in node.kwargs}
        with suppress(Exception):  # the page that comes here fails, and no other
            value = function(*[one.as_const() for one in node.args], **by_name)
            return nodes.Const(value, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        """Join constants as a page does; Jinja's own optimizer makes plain text of HTML, which is then escaped."""
        self.generic_visit(node)
        values = [one.value for one in node.nodes if isinstance(one, nodes.Const)]
        if len(values) < len(node.nodes):
            return node
        return nodes.Const(markup_join(values), lineno=node.lineno)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:  # noqa: N802
        """Leave the call of a macro that is given a body."""
        self.generic_visit(node.call)
        node.body = [self.visit(one) for one in node.body]
        return node

    def find_function(self, called: nodes.Expr) -> Callable[..., Any] | None:
        if isinstance(called, nodes.Name):
            return self._constant.get(called.name)
        if not isinstance(called, nodes.Getattr) or not isinstance(called.node, nodes.Name):
            return None
        module = self.modules.get(called.node.name)
        macro: Callable[..., Any] | None = getattr(module, called.attr, None)
        return macro


def _is_constant(value: nodes.Node) -> bool:
    """Return whether an argument has the same value on every page; a reload may change the file of a tenant."""
    return isinstance(value, nodes.Const) and FOLDER not in str(value.value)


def _names_given_by(giving: Iterable[nodes.Node]) -> Iterator[str]:
    """Yield every name that a template gives to something of its own, as often as it does."""
    for one in giving:
        if isinstance(one, nodes.Import):
            yield one.target
        elif isinstance(one, nodes.FromImport):
            yield from [name if isinstance(name, str) else name[1] for name in one.names]
        elif isinstance(one, nodes.Macro) or (isinstance(one, nodes.Name) and one.ctx != "load"):
            yield one.name


def set_up(app: web.Application, templates: Path | None, names: Mapping[str, object]) -> None:
    """Give the application the environment of its templates, which are given these names.

    Raise CannotServe if a template of the operator does not compile.
    """
    ours = jinja2.PrefixLoader({"builtin": jinja2.FileSystemLoader(BUILT_IN)})
    environment = Templates(
        autoescape=True,
        # `builtin/` reaches our template from an operator's that extends it.
        loader=jinja2.ChoiceLoader([jinja2.FileSystemLoader(folders_of(templates)), ours]),
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    own: Any = environment.globals
    own.update(names)
    own_filters: Any = environment.filters
    own_filters.update(dict.fromkeys(FILTERS, str))  # each language has its own
    environment.policies |= {"json.dumps_function": _encode, "json.dumps_kwargs": {}}
    app[aiohttp_jinja2.APP_KEY] = environment
    for name in _templates_in(templates) if templates else ():
        try:
            environment.get_template(name)
        except jinja2.TemplateError as error:
            raise CannotServe(Finding(("ui", "templates"), f"{name}: {error}")) from error


def _encode(value: object) -> str:
    return msgspec.json.encode(value, order="sorted", enc_hook=_unmark).decode()


def _unmark(value: object) -> str:
    """Return a text that is marked as HTML as one of JSON."""
    if isinstance(value, str):
        return str(value)
    raise NotImplementedError


def compile_templates(app: web.Application, folder: str, language: Language) -> None:
    """Compile the templates of a folder without those below it, so that no first request of a page waits for that."""
    for path in (BUILT_IN / folder).glob("*.html"):
        _find(app, str(path.relative_to(BUILT_IN)), language)


def render(
    app: web.Application, template: str, context: Mapping[str, object], language: Language
) -> str:
    """Return the page in this language."""
    return _find(app, template, language).render(context)


def _find(app: web.Application, template: str, language: Language) -> jinja2.Template:
    environment = cast("Templates", aiohttp_jinja2.get_env(app))
    return environment.in_language(language).get_template(template)


def why_not_compiled(folder: Path) -> Iterator[str]:
    """Yield the file, line and reason for each template in an operator's folder that does not compile."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True)
    environment.filters.update(dict.fromkeys(FILTERS, str))
    for name in _templates_in(folder):
        try:
            environment.get_template(name)
        except jinja2.TemplateSyntaxError as error:
            yield f"{folder / name}:{error.lineno}: {error.message}"
        except RecursionError:
            yield f"{folder / name}: is nested too deep"
        except UnicodeDecodeError:
            yield f"{folder / name}: is not UTF-8 text"
        except OSError as error:
            yield f"{folder / name}: {error.strerror or 'cannot be read'}"


def own_templates_compile(file: ConfigurationFile) -> Iterator[Finding]:
    """Templates in the operator's folder can be read and compiled."""
    for reason in why_not_compiled(file.ui.templates) if file.ui.templates else ():
        yield Finding(("ui", "templates"), reason)


def _templates_in(folder: Path) -> list[str]:
    names = jinja2.FileSystemLoader(folder).list_templates()
    return [name for name in names if name.endswith(".html")]
