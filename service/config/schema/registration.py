"""How clients may register themselves (RFC 7591, RFC 7592)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from service.config.schema.section import Section
from service.config.schema.types import Lifetime, Many, ScopeValue, Several, Sha256


class Registration(Section):
    """How clients may register themselves (RFC 7591, RFC 7592)."""

    enabled: bool = False
    """Whether they may."""
    initial_access_token_sha256: Annotated[Many[Sha256], Field(repr=False)] = ()
    """SHA-256 hashes of the tokens that open it, each what `python -m service hash-secret` prints between the quotes;
    empty with enabled: open to all."""
    client_lifetime: Lifetime | None = None
    """How long a registered client lives; null: until it is deleted."""
    allowed_scopes: Several[ScopeValue] = frozenset()
    """What registered clients may have; offline_access here lets them ask for it."""
