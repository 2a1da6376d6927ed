"""The two ways of an authorization response to the client: a redirect, or a form that the browser posts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Redirect:
    location: str


@dataclass(frozen=True, slots=True)
class FormPost:
    """Form fields for the redirect URI (OAuth 2.0 Form Post Response Mode §2)."""

    redirect_uri: str
    fields: Mapping[str, str]


Delivery = Redirect | FormPost
