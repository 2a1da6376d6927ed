"""Sends an authorization response to the client; each mode is a function, and one line of the table.

A mode whose name ends with `.jwt` is given one parameter, `response`, which is made by `response_jwt.py` (JARM §2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from service.protocol.authorization_request import JWT
from service.protocol.redirect_uri import Delivery, FormPost, Redirect, with_query


def query(redirect_uri: str, parameters: Mapping[str, str]) -> Redirect:
    """Add the parameters to the redirect URI's query, which is kept (RFC 6749 §3.1.2, §4.1.2)."""
    return Redirect(with_query(redirect_uri, parameters))


def fragment(redirect_uri: str, parameters: Mapping[str, str]) -> Redirect:
    """Put them into its fragment (Multiple Response Types §2.1); it has none of its own (RFC 6749 §3.1.2)."""
    return Redirect(f"{redirect_uri}#{urlencode(parameters)}")


RESPONSE_MODES: Mapping[str, Callable[[str, Mapping[str, str]], Delivery]] = {
    "query": query,
    "fragment": fragment,
    "form_post": FormPost,
    "query.jwt": query,
    "fragment.jwt": fragment,
    "form_post.jwt": FormPost,
}
RESPONSE_MODE_NAMES = (*RESPONSE_MODES, JWT)
"""What a client may ask for; `jwt` stands for one of the others (JARM §2.3.4)."""
