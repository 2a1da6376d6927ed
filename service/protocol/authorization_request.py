"""Response types and prompts of authorization requests, and `session_state` in the responses.

OAuth 2.0 Multiple Response Types §3, §5; OpenID Connect Session Management §3.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

from service.protocol.errors import InvalidRequest, RefusedValue, UnsupportedResponseType

PROMPTS = ("none", "login", "consent", "select_account")
"""The pages that the client demands, or none at all (OIDC Core §3.1.2.1)."""

CREATE = "create"
"""Demands the page at which accounts are created, where there is one (Initiating User Registration via OpenID Connect 1.0 §4)."""

OPAQUE_ORIGIN = "null"
"""The origin of a URI that is not of a web page (RFC 6454 §6.1)."""

SIGNED_OUT = ""
"""The state of a browser in which no user is signed in."""


class ResponseType(msgspec.Struct, frozen=True):
    """The credentials that the authorization response carries."""

    name: str
    """The words in the order of the specification."""
    code: bool = False
    token: bool = False
    id_token: bool = False

    @property
    def from_front_channel(self) -> bool:
        """Whether a token goes through the browser (OAuth 2.0 Multiple Response Types §5)."""
        return self.token or self.id_token

    @property
    def default_mode(self) -> str:
        return "fragment" if self.from_front_channel else "query"


NO_RESPONSE = ResponseType("")
"""Of a request that is not answered through the browser, or whose response type is unknown."""

_NAMES = ("code", "id_token", "token", "id_token token")
_HYBRID = ("code id_token", "code token", "code id_token token")
RESPONSE_TYPES = tuple(
    ResponseType(name, **dict.fromkeys(name.split(" "), True)) for name in (*_NAMES, *_HYBRID)
)
_BY_NAME = {known.name: known for known in RESPONSE_TYPES}
_BY_WORDS = {frozenset(known.name.split(" ")): known for known in RESPONSE_TYPES}
_NO_PROMPT = frozenset[str]()


def parse_response_type(text: str) -> ResponseType:
    """Read a response_type; the order of its words does not matter (RFC 6749 §3.1.1)."""
    known = find_response_type(text)
    if known is None:
        refused = RefusedValue("response_type", text)
        raise UnsupportedResponseType(
            "response_type is not one that this server knows", refused=refused
        )
    return known


def find_response_type(text: str) -> ResponseType | None:
    """Return the response type with these words; None for unknown or repeated words."""
    known = _BY_NAME.get(text)
    if known is None:
        words = text.split(" ")
        known = _BY_WORDS.get(frozenset(words)) if len(words) == len(set(words)) else None
    return known


def parse_prompt(text: str | None) -> frozenset[str]:
    """Read a prompt parameter; none allows no other value, and nothing asks for unknown ones (OIDC Core §3.1.2.1)."""
    if text is None:
        return _NO_PROMPT
    prompt = frozenset(text.split(" ")) - {""}
    if "none" in prompt and len(prompt) > 1:
        raise InvalidRequest("prompt none cannot stand with another value")
    return prompt


def session_state(*, client_id: str, origin: str, browser_state: str, salt: str) -> str:
    """Return `session_state`, as the script of `check_session_iframe` computes it (OpenID Connect Session Management §3.2)."""
    text = f"{client_id} {origin} {browser_state} {salt}"
    return f"{sha256(text.encode()).hexdigest()}.{salt}"


def browser_state_of(sid: str) -> str:
    """Return the state that scripts may read while this session lives; it identifies nobody (§3.2)."""
    return sha256(f"browser state of {sid}".encode()).hexdigest()
