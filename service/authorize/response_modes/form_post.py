"""response_mode=form_post: parameters in a form that posts itself (OAuth 2.0 Form Post Response Mode)."""

from __future__ import annotations

from collections.abc import Mapping

from service.model.delivery import FormPost


def form_post(redirect_uri: str, parameters: Mapping[str, str]) -> FormPost:
    """Return the form; `pages/` makes the page around it."""
    return FormPost(redirect_uri, parameters)
