"""Renders templates by aiohttp-jinja2: the operator's own, and the built-in ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp_jinja2
import jinja2
from aiohttp import web
from jinja2.runtime import Context, Macro
from jinja2.utils import missing

from service.config.problem import CannotServe, Finding
from service.config.schema.file import ConfigurationFile
from service.web.pages.looks import BUILT_IN, folders_of

if TYPE_CHECKING:
    from service.web.pages.locales import Language

FILTERS = ("local", "ago", "date", "date_time", "span", "iso")
"""The filters of templates: methods of `Language`."""

_language: ContextVar[Language] = ContextVar("language")
"""The language of the page that is being rendered."""


class LocalContext(Context):
    """Finds the names that a language has, such as `_` and `lang`, also in macros of an imported template."""

    def resolve_or_missing(self, key: str) -> Any:
        """Return a variable; the language's one comes after what the page and the environment have."""
        if key in self.vars:
            return self.vars[key]
        if key in self.parent:
            return self.parent[key]
        return _language.get().names.get(key, missing)

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
        if isinstance(called, Macro):
            return called(self.eval_ctx, *args, **values)
        return called(*args, **values)


class Templates(jinja2.Environment):
    """Gives all templates the same names: maps of maps, one for each template, take a sixth of the time of a page."""

    context_class = LocalContext

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        return {**self.globals, **d} if d else self.globals


def set_up(
    app: web.Application, templates: Path | None, names: Mapping[str, object]
) -> jinja2.Environment:
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
    )
    own: Any = environment.globals
    own.update(names)
    own_filters: Any = environment.filters
    own_filters.update({name: _make_filter(name) for name in FILTERS})
    app[aiohttp_jinja2.APP_KEY] = environment
    for name in _templates_in(templates) if templates else ():
        try:
            environment.get_template(name)
        except jinja2.TemplateError as error:
            raise CannotServe(Finding(("ui", "templates"), f"{name}: {error}")) from error
    return environment


def compile_templates(app: web.Application, folder: str) -> None:
    """Compile the templates of a folder, so that no first request of a page waits for that."""
    for name in _templates_in(BUILT_IN / folder):
        app[aiohttp_jinja2.APP_KEY].get_template(f"{folder}/{name}")


def render(
    request: web.Request, template: str, context: Mapping[str, object], language: Language
) -> str:
    """Return the page in this language."""
    token = _language.set(language)
    try:
        return aiohttp_jinja2.render_string(template, request, context)
    finally:
        _language.reset(token)


def _make_filter(name: str) -> Callable[[Context, Any], str]:
    @jinja2.pass_context  # or Jinja would evaluate it for a constant once, in the language of the first page
    def in_language(_: Context, value: Any) -> str:
        text: str = getattr(_language.get(), name)(value)
        return text

    return in_language


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
