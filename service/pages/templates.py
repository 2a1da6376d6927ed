"""Compiles the templates: the operator's own, and the built-in ones. Pages import it, and Jinja, when the first is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jinja2

from service.config.problem import CannotServe, Finding
from service.pages.display import filters_in
from service.pages.folders import BUILT_IN, folders_of


def environment_in(tag: str, default: str, templates: Path | None) -> jinja2.Environment:
    """Return what renders the templates in one language; raise CannotServe if one of the operator's does not compile."""
    ours = jinja2.PrefixLoader({"builtin": jinja2.FileSystemLoader(BUILT_IN)})
    environment = jinja2.Environment(
        # `builtin/` reaches our template from an operator's that extends it.
        loader=jinja2.ChoiceLoader([jinja2.FileSystemLoader(folders_of(templates)), ours]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(filters_in(tag, default))
    for name in _templates_in(templates) if templates else ():
        try:
            environment.get_template(name)
        except jinja2.TemplateError as error:
            raise CannotServe(Finding(("ui", "templates"), f"{name}: {error}")) from error
    return environment


def why_not_compiled(folder: Path) -> Iterator[str]:
    """Yield the file, line and reason for each template in an operator's folder that does not compile."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True)
    environment.filters.update(filters_in("en"))
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


def _templates_in(folder: Path) -> list[str]:
    names = jinja2.FileSystemLoader(folder).list_templates()
    return [name for name in names if name.endswith(".html")]
