"""Marks texts as HTML and escapes all others, as MarkupSafe does in more calls; it needs no Jinja, which `check` does without."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import markupsafe
from markupsafe import Markup

as_html: Callable[[str], Markup] = partial(str.__new__, Markup)
"""Marks a text as HTML."""
_escape_text: Callable[[str], str] = cast("Any", markupsafe)._escape_inner  # noqa: SLF001 - without the mark


def escape(value: object) -> str:
    """Return what a page shows of a value: HTML as it is, all else escaped."""
    if type(value) is str:
        return _escape_text(value)
    return value if type(value) is Markup else markupsafe.escape(value)
