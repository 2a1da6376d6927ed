"""Opaque handles: the form of codes, reference and refresh tokens, and session cookies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Literal
from zlib import crc32

import msgspec

from service.protocol.octets import base64url, random_text

HandleKind = Literal[
    "authorization_code",
    "access_token",
    "refresh_token",
    "session",
    "registration_access_token",
    "device_code",
    "auth_req_id",
]

PREFIXES: Mapping[HandleKind, str] = {
    "authorization_code": "ac_",
    "access_token": "at_",
    "refresh_token": "rt_",
    "session": "ss_",
    "registration_access_token": "ra_",
    "device_code": "dv_",
    "auth_req_id": "ar_",
}
"""Recognisable prefixes, so that secret scanners find leaks (RFC 8959's idea)."""

LIKE_JWT = ".eyJ0eXAiOiJSZWZyZXNoIn0"
"""Follows the refresh tokens of clients whose libraries decode them as JWTs; it says `{"typ":"Refresh"}`, and nobody believes it."""

_KINDS: Mapping[str, HandleKind] = {prefix: kind for kind, prefix in PREFIXES.items()}
_SELECTOR, _SECRET, _CHECKSUM = 16, 43, 6
DIGEST_LENGTH = 43
"""Characters of a hash, as `digest` writes it."""

_LONGEST_LOADED = 255
"""Characters of a refresh token of another server; IdentityServer makes 64 to 66."""

_PREFIX = 3
_SELECTED = _PREFIX + _SELECTOR
_BODY = _SELECTED + _SECRET
_LENGTH = _BODY + _CHECKSUM
_WELL_FORMED = re.compile(rf"[A-Za-z0-9_-]{{{_LENGTH}}}")
_WELL_FORMED_SELECTOR = re.compile(rf"[A-Za-z0-9_-]{{{_SELECTOR}}}")


class Handle(msgspec.Struct, frozen=True, gc=False):
    """A well-formed handle: `<prefix><selector><256 random bits><checksum>`.

    The selector is the id of the authorization (or session) and not secret: it keeps all records
    of one authorization in one Redis hash slot, so that one round trip finds them.
    """

    kind: HandleKind
    selector: str
    text: str
    digest: str
    """The hash in the key of its record: a stolen dump of Redis holds no usable handle."""

    @property
    def is_loaded(self) -> bool:
        """Whether another server has made it, so that it shows nothing by itself (service/takeover/grants.py)."""
        return self.text[:_PREFIX] != PREFIXES[self.kind]


def new_selector() -> str:
    """Return an identifier of 96 random bits, from a fixed alphabet."""
    return random_text(12)


def new_handle(kind: HandleKind, selector: str) -> Handle:
    """Return a handle with 256 random bits."""
    return _complete(kind, selector, random_text(32))


def handle_from_secret(kind: HandleKind, selector: str, secret: bytes) -> Handle:
    """Return the handle with this secret of 32 bytes."""
    return _complete(kind, selector, base64url(secret))


def _complete(kind: HandleKind, selector: str, secret: str) -> Handle:
    body = PREFIXES[kind] + selector + secret
    text = body + _checksum(body)
    return Handle(kind, selector, text, digest(text))


def parse_handle(text: str, kind: HandleKind) -> Handle | None:
    """Read a handle of one kind; None for a typo or another kind."""
    text = text.removesuffix(LIKE_JWT) if kind == "refresh_token" else text
    if text[:_PREFIX] != PREFIXES[kind] or _WELL_FORMED.fullmatch(text) is None:
        return None
    if text[_BODY:] != _checksum(text[:_BODY]):
        return None
    return Handle(kind, text[_PREFIX:_SELECTED], text, digest(text))


def parse_refresh_token(text: str) -> Handle | None:
    """Read a refresh token: one of this service, or of any other form, as one that was loaded from another server may have."""
    own = parse_handle(text, "refresh_token")
    if own is not None or kind_of(text) is not None:
        return own
    if "." in text or not 0 < len(text) <= _LONGEST_LOADED:  # such as a JWT
        return None
    # IdentityServer keeps this hash, in base64 or in hex.
    hashed = digest(f"{text}:refresh_token")
    return Handle("refresh_token", selector_of_loaded(hashed), text, hashed)


def selector_of_loaded(hashed: str) -> str:
    """Return the id of the authorization of a loaded refresh token with this hash."""
    return hashed[:_SELECTOR]


def kind_of(text: str) -> HandleKind | None:
    """Return the kind that a text has by its prefix, well-formed or not."""
    return _KINDS.get(text[:_PREFIX])


def digest(text: str) -> str:
    """Return the SHA-256, base64url: the form of secrets and of callers' values in Redis keys."""
    return base64url(sha256(text.encode()).digest())


@lru_cache(maxsize=1000)
def name_digest(name: str) -> str:
    """Return the digest of a client_id or subject, of which a few come all day; of a secret none must be kept."""
    return digest(name)


def is_selector(text: str) -> bool:
    """Return whether a text has the form of a selector, and so may be part of a Redis key."""
    return _WELL_FORMED_SELECTOR.fullmatch(text) is not None


def _checksum(body: str) -> str:
    return base64url(crc32(body.encode()).to_bytes(4, "big"))
