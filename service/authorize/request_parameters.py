"""The parameters that a request object holds, as if they had been sent one by one (RFC 9101 §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import orjson

from service.protocol.errors import InvalidRequestObject
from service.protocol.params import REPEATABLE

_OF_THE_JWT = frozenset({"iss", "sub", "aud", "exp", "nbf", "iat", "jti"})
"""What is said of the object itself (RFC 7519 §4.1)."""

_OBJECTS = frozenset({"claims", "registration"})
_NUMBERS = frozenset({"max_age"})
_TEXTS = frozenset(
    {
        *("client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce"),
        *("code_challenge", "code_challenge_method", "prompt", "display", "id_token_hint"),
        *("login_hint", "ui_locales", "claims_locales", "acr_values"),
    }
)
PARAMETERS = _OBJECTS | _NUMBERS | _TEXTS | REPEATABLE
"""All that an authorization request says; whatever else is sent means nothing (RFC 6749 §3.1)."""


def parameters_in(claims: Mapping[str, object]) -> Mapping[str, tuple[str, ...]]:
    """Every parameter with its values; those that nobody knows are left out where they are no text."""
    return {
        name: values
        for name, value in claims.items()
        if name not in _OF_THE_JWT and (values := _values(name, value))
    }


def _values(name: str, value: object) -> tuple[str, ...]:
    """The values in the form's own way; an empty or null one counts as absent."""
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (value,)
    if name in _OBJECTS and isinstance(value, dict):
        return (_as_text(name, cast("object", value)),)
    if name in _NUMBERS and isinstance(value, int) and not isinstance(value, bool):
        return (str(value),)
    if name in REPEATABLE and isinstance(value, list):
        return _texts(name, cast("list[object]", value))
    if name in PARAMETERS:
        raise InvalidRequestObject(f"{name} is of another type in the request object")
    return ()


def _as_text(name: str, value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError as error:
        raise InvalidRequestObject(f"{name} is too deep in the request object") from error


def _texts(name: str, values: list[object]) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise InvalidRequestObject(f"{name} is a list of something else in the request object")
    return tuple(str(value) for value in values)
