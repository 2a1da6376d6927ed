"""The parameters of an authorization request at each endpoint, and those in a request object (RFC 9101 §4)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from enum import Enum, auto
from typing import cast

import orjson

from service.protocol.errors import InvalidRequestObject
from service.protocol.params import REPEATABLE


class EndpointKind(Enum):
    """An endpoint that takes authorization requests."""

    AUTHORIZE = auto()
    PAR = auto()
    DEVICE = auto()
    CIBA = auto()


AUTHORIZE, PAR, DEVICE, CIBA = EndpointKind

_JWT_CLAIMS = frozenset({"iss", "sub", "aud", "exp", "nbf", "iat", "jti"})
"""Claims about the request object itself (RFC 7519 §4.1)."""

_OBJECTS = frozenset({"claims", "registration"})
_ARRAYS = frozenset({"authorization_details"})
"""An array of objects (RFC 9396 §2)."""
_NUMBERS = frozenset({"max_age", "requested_expiry"})
_KNOWN = frozenset(
    {
        *(
            "client_id",
            "redirect_uri",
            "response_type",
            "response_mode",
            "scope",
            "state",
            "nonce",
            "dpop_jkt",
        ),
        *("code_challenge", "code_challenge_method", "prompt", "display", "id_token_hint"),
        *("login_hint", "ui_locales", "claims_locales", "acr_values"),
        *(*_OBJECTS, *_ARRAYS, *_NUMBERS, *REPEATABLE),
    }
)
_DEVICE = frozenset({"client_id", "scope"}) | _ARRAYS | REPEATABLE
_CIBA = frozenset(
    {
        *("acr_values", "id_token_hint", "login_hint", "login_hint_token"),
        *("binding_message", "user_code", "requested_expiry", "client_notification_token"),
    }
)

CERTIFICATE = "x5t#S256"
"""The client's certificate that a pushed request came with; nobody else can name it."""

KEPT = _KNOWN | {"request_uri", CERTIFICATE}
"""Those that are kept while the user is asked; request_uri is the name of a pushed request (RFC 9126 §4)."""

PARAMETERS: Mapping[EndpointKind, frozenset[str]] = {
    AUTHORIZE: _KNOWN,
    PAR: _KNOWN,  # RFC 9126 §2.1
    DEVICE: _DEVICE,  # RFC 8628 §3.1
    CIBA: _DEVICE | _CIBA,  # CIBA Core §7.1
}
"""The parameters that have a meaning; all others are ignored (RFC 6749 §3.1)."""


def parameters_in(claims: Mapping[str, object]) -> Mapping[str, tuple[str, ...]]:
    """Return every parameter with its values, without those of another type; unknown ones are text or left out."""
    found: dict[str, tuple[str, ...]] = {}
    for name, value in claims.items():
        with suppress(InvalidRequestObject):
            values = _values(name, value)
            if values and name not in _JWT_CLAIMS:
                found[name] = values
    return found


def check_types(claims: Mapping[str, object]) -> None:
    """Raise InvalidRequestObject if a parameter is of another type than it has to be."""
    for name, value in claims.items():
        _values(name, value)


def _values(name: str, value: object) -> tuple[str, ...]:
    """Return the values as a form would hold them; an empty or null one counts as absent."""
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, dict if name in _OBJECTS else list) and name in _OBJECTS | _ARRAYS:
        return (_encode(name, cast("object", value)),)
    if name in _NUMBERS and isinstance(value, int) and not isinstance(value, bool):
        return (str(value),)
    if name in REPEATABLE and isinstance(value, list):
        texts = [text for text in cast("list[object]", value) if isinstance(text, str)]
        if len(texts) < len(cast("list[object]", value)):
            raise InvalidRequestObject(f"{name} is a list of something else in the request object")
        return tuple(texts)
    if name in _KNOWN | _CIBA:
        raise InvalidRequestObject(f"{name} is of another type in the request object")
    return ()


def _encode(name: str, value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError as error:
        raise InvalidRequestObject(f"{name} is too deep in the request object") from error
