"""Chooses how an authorization response is sent to the client; each mode is a function, and one line of the table.

A mode whose name ends with `.jwt` is given one parameter, `response`, which is made by `reply_to.py` (JARM §2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from service.model.client import Client
from service.protocol.authorization_request import ResponseType
from service.protocol.errors import InvalidRequest, RefusedValue
from service.protocol.redirect_uri import Delivery, FormPost, Redirect, form_encoded, with_query

JWT = "jwt"
"""The response mode that is the response type's default, in a JWT (JARM §2.3.4)."""

JWT_SUFFIX = ".jwt"
"""Of the response modes that send a JWT (JARM §2.3)."""


def query(redirect_uri: str, parameters: Mapping[str, str]) -> Redirect:
    """Add the parameters to the redirect URI's query, which is kept (RFC 6749 §3.1.2, §4.1.2)."""
    return Redirect(with_query(redirect_uri, parameters))


def fragment(redirect_uri: str, parameters: Mapping[str, str]) -> Redirect:
    """Put them into its fragment (Multiple Response Types §2.1); it has none of its own (RFC 6749 §3.1.2)."""
    return Redirect(f"{redirect_uri}#{form_encoded(parameters)}")


RESPONSE_MODES: Mapping[str, Callable[[str, Mapping[str, str]], Delivery]] = {
    "query": query,
    "fragment": fragment,
    "form_post": FormPost,
    "query.jwt": query,
    "fragment.jwt": fragment,
    "form_post.jwt": FormPost,
}
RESPONSE_MODE_NAMES = (*RESPONSE_MODES, JWT)
"""The response modes that a client may ask for; `jwt` stands for one of the others (JARM §2.3.4)."""


def choose_response_mode(name: str, response_type: ResponseType, client: Client) -> str:
    """Return the mode that a name stands for; raise InvalidRequest unless the client may have it.

    A query never carries a token (Multiple Response Types §2.1, §5), unless the client gets its
    JWTs encrypted (JARM §2.3.1).
    """
    mode = response_type.default_mode + JWT_SUFFIX if name == JWT else name
    if mode not in RESPONSE_MODES:
        refused = RefusedValue("response_mode", name)
        known = ", ".join(RESPONSE_MODE_NAMES)
        raise InvalidRequest(f"response_mode is not one of {known}", refused=refused)
    if client.gets_signed_responses_only and not mode.endswith(JWT_SUFFIX):
        raise InvalidRequest(f"response_mode {mode} is not signed, as the client's profile demands")
    is_encrypted = client.authorization_encrypted_response_alg is not None
    is_readable = mode == "query" or (mode == "query.jwt" and not is_encrypted)
    if is_readable and response_type.from_front_channel:
        raise InvalidRequest(f"response_mode {mode} is not allowed where a token is returned")
    return mode
