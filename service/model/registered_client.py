"""A client that registered itself: what the store keeps of it, and how its client_id is recognised (RFC 7591)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from service.model.handle import new_selector

_CLIENT_ID = re.compile(r"dc_([A-Za-z0-9_-]{16})")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredClient:
    """The metadata in force by their registered names, and the proofs of who the client is."""

    client_id: str
    issued_at: int
    expires_at: int | None
    """When client and secret cease to exist; None: when they are deleted."""
    metadata: Mapping[str, object]
    access_token_digest: str
    """Of the registration access token, which is nowhere kept (RFC 7592 §1.2)."""
    secret_sha256: bytes | None = field(repr=False)
    sealed_secret: str | None = field(repr=False)
    """The secret's value, encrypted; only where an algorithm of the client's needs it."""


def new_client_id() -> str:
    """An id that nobody had before, and that shows where the client is to be looked for."""
    return f"dc_{new_selector()}"


def selector_of(client_id: str) -> str | None:
    """Under what the store would keep the client; None where no such id was ever issued."""
    match = _CLIENT_ID.fullmatch(client_id)
    return match[1] if match else None
