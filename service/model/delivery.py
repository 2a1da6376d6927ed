"""What a browser is to do next: follow a redirect, or post a form to the client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Redirect:
    """Go there by GET."""

    location: str


@dataclass(frozen=True, slots=True)
class FormPost:
    """Post these fields there (OAuth 2.0 Form Post Response Mode §2)."""

    redirect_uri: str
    fields: Mapping[str, str]


Delivery = Redirect | FormPost
