"""Finds and compiles the templates: the operator's own, and the built-in ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jinja2

from service.pages.display import filters_in

PACKAGE = Path(__file__).parents[1]
BUILT_IN = next(  # a wheel holds them in the package, a checkout beside it
    folder for folder in (PACKAGE / "templates", PACKAGE.parent / "templates") if folder.is_dir()
)


def folders_of(templates: Path | None) -> tuple[Path, ...]:
    """Return the folders of templates, styles and translations, the operator's own first."""
    return (BUILT_IN,) if templates is None else (templates, BUILT_IN)


def environment_in(tag: str, default: str, templates: Path | None) -> jinja2.Environment:
    """Return what renders the templates in one language; one of the operator's that does not compile stops the start."""
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
        environment.get_template(name)
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
