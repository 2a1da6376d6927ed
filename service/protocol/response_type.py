"""What the authorize endpoint answers with (OAuth 2.0 Multiple Response Type Encoding Practices §3, §5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from service.protocol.errors import InvalidRequest, UnsupportedResponseType
from service.protocol.refused_value import RefusedValue

ResponseMode = Literal["query", "fragment", "form_post"]
RESPONSE_MODES: tuple[ResponseMode, ...] = ("query", "fragment", "form_post")


@dataclass(frozen=True, slots=True)
class ResponseType:
    """A set of things the authorization response carries."""

    name: str
    """The words in the order of the specification."""
    code: bool
    token: bool
    id_token: bool

    @property
    def from_front_channel(self) -> bool:
        """Whether a token goes through the browser (OAuth 2.0 Multiple Response Types §5)."""
        return self.token or self.id_token

    @property
    def default_mode(self) -> ResponseMode:
        """Query for a code alone, fragment for whatever carries a token."""
        return "fragment" if self.from_front_channel else "query"


def _response_type(name: str) -> ResponseType:
    words = name.split(" ")
    return ResponseType(name, "code" in words, "token" in words, "id_token" in words)


RESPONSE_TYPES: tuple[ResponseType, ...] = tuple(
    _response_type(name)
    for name in (
        "code",
        "id_token",
        "token",
        "id_token token",
        "code id_token",
        "code token",
        "code id_token token",
    )
)

_BY_WORDS: Mapping[frozenset[str], ResponseType] = {
    frozenset(known.name.split(" ")): known for known in RESPONSE_TYPES
}


def parse_response_type(text: str) -> ResponseType:
    """Read a response_type; the order of its words does not matter (RFC 6749 §3.1.1)."""
    words = text.split(" ")
    known = _BY_WORDS.get(frozenset(words))
    if known is None or len(words) != len(set(words)):
        raise UnsupportedResponseType(
            "response_type is not one that this server knows",
            refused=RefusedValue("response_type", text),
        )
    return known


def parse_response_mode(text: str, response_type: ResponseType) -> ResponseMode:
    """Read a response_mode; a token never travels in a query (Multiple Response Types §2.1, §5)."""
    for mode in RESPONSE_MODES:
        if mode == text:
            if mode == "query" and response_type.from_front_channel:
                raise InvalidRequest("response_mode query is not allowed where a token is returned")
            return mode
    raise InvalidRequest(
        "response_mode is not one of query, fragment, form_post",
        refused=RefusedValue("response_mode", text),
    )
