"""The record of a dynamically registered client, and the form of its client_id (RFC 7591)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from service.model.handle import new_selector

_CLIENT_ID = re.compile(r"dc_([A-Za-z0-9_-]{16})")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredClient:
    """The metadata in force by their registered names, and the hashes of the client's credentials."""

    client_id: str
    issued_at: int
    expires_at: int | None
    """When client and secret expire; None if they do not."""
    metadata: Mapping[str, object]
    access_token_digest: str
    """The hash of the registration access token, which is not stored (RFC 7592 §1.2)."""
    secret_sha256: bytes | None = field(repr=False)
    sealed_secret: str | None = field(repr=False)
    """The encrypted secret, only where one of the client's algorithms needs its value."""


def new_client_id() -> str:
    """Return a new id, which holds the selector of the client's record."""
    return f"dc_{new_selector()}"


def selector_of(client_id: str) -> str | None:
    """Return the selector of the client's record; None if the id is not of a dynamically registered client."""
    match = _CLIENT_ID.fullmatch(client_id)
    return match[1] if match else None
