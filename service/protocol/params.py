"""The parameters of one request: each has one value, and an empty one counts as absent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import unquote_to_bytes

import msgspec

from service.protocol.errors import InvalidRequest

REPEATABLE = frozenset({"resource", "audience"})
"""Parameters that may be sent more than once (RFC 8707 §2, RFC 8693 §2.1)."""

MAX_LENGTH: Mapping[str, int] = {
    "client_id": 256,
    "client_secret": 256,
    "grant_type": 100,
    "scope": 1000,
    "redirect_uri": 2048,
    "nonce": 300,
    "ui_locales": 254,
    "login_hint": 254,
    "acr_values": 300,
    "username": 254,
    "password": 200,
    "otp": 64,
    "passkey": 8192,
    "code": 256,
    "code_verifier": 128,
    "refresh_token": 256,
    "device_code": 256,
    "auth_req_id": 256,
    "request_uri": 512,
}
"""In characters; a token has its own limit where it is looked up (`tokens/active.py`)."""

MAX_PARAMETERS = 200

_OAUTH = "urn%3Aietf%3Aparams%3Aoauth%3A"
_REPEATED = (
    *(f"{_OAUTH}{kind}-type%3A" for kind in ("grant", "token", "client-assertion")),
    *("urn%3Aopenid%3Aparams%3Agrant-type%3A", "https%3A"),
)
"""How values begin that are no secrets, and that clients send all day: types, redirect URIs, resources."""
_MAX_REPEATED = 300

_ORDINARY = re.compile(r"[a-z_]{1,40}")


class Params(msgspec.Struct, frozen=True, gc=False):
    """Parameters by name, each with every value that was sent for it."""

    values: Mapping[str, tuple[str, ...]]

    @classmethod
    def parse(cls, encoded: str) -> Params:
        """Decode a form body or query string exactly once (RFC 6749 appendix B)."""
        pairs = encoded.split("&")
        if len(pairs) > MAX_PARAMETERS:
            raise InvalidRequest("the parameters are too many")
        values: dict[str, tuple[str, ...]] = {}
        is_escaped = "%" in encoded or "+" in encoded
        for pair in pairs:
            if not pair:
                continue
            name, _, value = pair.partition("=")
            if is_escaped and ("%" in pair or "+" in pair):  # most pairs stand for themselves
                name, value = _decode(name), _decode(value)
            values[name] = (*values[name], value) if name in values else (value,)
        return cls(values)

    def get(self, name: str) -> str | None:
        """Return the value, or None if the parameter is absent or empty (RFC 6749 §3.1)."""
        value = self.values.get(name)
        return (value[0] or None) if value else None

    def first_of_each(self) -> dict[str, str]:
        """Return what `get` returns for every parameter that is not absent."""
        return {name: sent[0] for name, sent in self.values.items() if sent and sent[0]}

    def require(self, name: str) -> str:
        """Return the value; raise InvalidRequest if it is missing."""
        value = self.get(name)
        if value is None:
            raise InvalidRequest(f"{name} is missing")
        return value

    def every(self, name: str) -> tuple[str, ...]:
        """Return all values of a parameter that may repeat, without the empty ones."""
        sent = self.values.get(name, ())
        return tuple(filter(None, sent)) if "" in sent else sent

    def only(self, names: frozenset[str]) -> Params:
        """Return those of these parameters that were sent."""
        return Params({name: sent for name, sent in self.values.items() if name in names})

    def refuse_repeated(self, repeatable: frozenset[str] = REPEATABLE) -> None:
        """Refuse a request that sends a parameter twice (RFC 6749 §3.1)."""
        for name, values in self.values.items():
            if len(values) > 1 and name not in repeatable:
                shown = name if _ORDINARY.fullmatch(name) else "a parameter"  # the caller chose it
                raise InvalidRequest(f"{shown} is sent more than once")

    def refuse_too_long(self, *, except_for: frozenset[str] = frozenset()) -> None:
        """Refuse bounded values over their limit, and NUL in them."""
        for name, values in self.values.items():
            limit = MAX_LENGTH.get(name)
            if limit is None or name in except_for:
                continue
            for value in values:
                if len(value) > limit:
                    raise InvalidRequest(f"{name} is longer than {limit} characters")
                if "\x00" in value:
                    raise InvalidRequest(f"{name} holds a character that is not allowed")

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)


def form_decoded(text: str) -> str:
    """Decode form-encoding; raise UnicodeError if it is not UTF-8."""
    # Most text stands for itself.
    return unquote_to_bytes(text.replace("+", " ")).decode() if "%" in text or "+" in text else text


_decode_known = lru_cache(maxsize=1000)(form_decoded)


def _decode(text: str) -> str:
    if "%" not in text and "+" not in text:
        return text
    try:
        is_repeated = text.startswith(_REPEATED) and len(text) <= _MAX_REPEATED
        return _decode_known(text) if is_repeated else form_decoded(text)
    except UnicodeError as error:
        raise InvalidRequest("the parameters are not form-encoded UTF-8") from error
