"""response_mode=query: parameters in the redirect URI's query (RFC 6749 §4.1.2)."""

from __future__ import annotations

from collections.abc import Mapping

from service.model.delivery import Redirect
from service.protocol.redirect_uri import with_query


def query(redirect_uri: str, parameters: Mapping[str, str]) -> Redirect:
    """Return the redirect; a query in the URI is kept (RFC 6749 §3.1.2)."""
    return Redirect(with_query(redirect_uri, parameters))
