"""Compiles the templates in an operator's folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jinja2

from service.pages import display


def templates_in(folder: Path) -> list[str]:
    """Return the names of all templates in a folder and its subfolders."""
    names = jinja2.FileSystemLoader(folder).list_templates()
    return [name for name in names if name.endswith(".html")]


def why_not_compiled(folder: Path) -> Iterator[str]:
    """Yield the file, line and reason for each template that does not compile."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True)
    environment.filters.update(display.filters_in("en"))
    for name in templates_in(folder):
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
