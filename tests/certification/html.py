"""Reads elements of a page, beyond those that a person uses."""

from __future__ import annotations

import re
from html import unescape


def attributes_in(text: str, element: str, attribute: str) -> list[str]:
    """The values of an attribute of all elements of one kind."""
    found = re.findall(rf"<{element}\b[^>]*\b{attribute}=\"([^\"]*)\"", text)
    return [unescape(value) for value in found]
