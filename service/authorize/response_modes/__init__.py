"""Sends an authorization response to the client; each mode is one file, and one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from service.authorize.response_modes.form_post import form_post
from service.authorize.response_modes.fragment import fragment
from service.authorize.response_modes.query import query
from service.model.delivery import Delivery

RESPONSE_MODES: Mapping[str, Callable[[str, Mapping[str, str]], Delivery]] = {
    "query": query,
    "fragment": fragment,
    "form_post": form_post,
}
