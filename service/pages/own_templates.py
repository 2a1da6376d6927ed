"""Which templates does an operator's folder hold, and which of them can be no page?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jinja2

from service.pages import display


def templates_in(folder: Path) -> list[str]:
    """The names of all templates in a folder, those further down in it too."""
    names = jinja2.FileSystemLoader(folder).list_templates()
    return [name for name in names if name.endswith(".html")]


def why_not_compiled(folder: Path) -> Iterator[str]:
    """For each template that does not compile its file, its line, and why."""
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
