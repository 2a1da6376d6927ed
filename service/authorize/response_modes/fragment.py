"""response_mode=fragment: parameters in the redirect URI's fragment (Multiple Response Types §2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from service.model.delivery import Redirect


def fragment(redirect_uri: str, parameters: Mapping[str, str]) -> Redirect:
    """Return the redirect; registered URIs have no fragment of their own (RFC 6749 §3.1.2)."""
    return Redirect(f"{redirect_uri}#{urlencode(parameters)}")
