"""What is being protected: APIs, their scopes, and the identity data of a user."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from service.config.schema.section import Section
from service.config.schema.types import (
    ClientId,
    Many,
    ScopeValue,
    Several,
    Sha256,
    SigningAlgorithm,
    Text,
    Texts,
    Timestamp,
)


class SecretEntry(Section):
    """A shared secret: its SHA-256 hash, or the secret itself where an algorithm needs it."""

    sha256: Annotated[Sha256 | None, Field(repr=False)] = None
    """The SHA-256 hash of the secret, base64 or hex; `python -m service new-secret` makes a secret and its hash, `hash-secret` only the hash."""
    value: Annotated[Text | None, Field(repr=False)] = None
    """The secret itself; only where client_secret_jwt or a symmetric algorithm needs it."""
    description: str | None = None
    """What the operator wants to remember of it."""
    expires_at: Timestamp | None = None
    """From when on it is no longer accepted (RFC 3339)."""


class ApiResourceEntry(Section):
    """An API; it identifies itself at the introspection endpoint with name and secret."""

    name: ClientId
    """The audience of access tokens for it, and its name at the introspection endpoint."""
    display_name: Texts | None = None
    """What a person is shown."""
    secrets: Many[SecretEntry] = ()
    """Any of them opens the introspection endpoint."""
    scopes: Several[ScopeValue] | None = None
    """The scope values it understands; null: one, named as the resource."""
    user_claims: Many[Text] = ()
    """Claims of the user put into access tokens for it."""
    access_token_signing_algorithm: SigningAlgorithm | None = None
    """The signature algorithm of access tokens for it; null: the default one."""
    require_resource_indicator: bool = False
    """Only a request that names it by `resource` (RFC 8707) gets a token for it."""
    introspection_signed_response: bool = False
    """Introspection answers it with a signed JWT (RFC 9701)."""


class ScopeEntry(Section):
    """What is said of a scope value, beyond its name."""

    name: ScopeValue
    """The scope value."""
    display_name: Texts | None = None
    """The headline on the consent page; null: the built-in text, or the name."""
    description: Texts | None = None
    """The sentence below it."""
    required: bool = False
    """Whether it cannot be unticked at consent."""
    emphasize: bool = False
    """Whether the consent page draws attention to it."""
    show_in_discovery: bool = True
    """Whether it is listed in the metadata documents."""
    user_claims: Many[Text] = ()
    """Claims of the user that it stands for."""


class ApiScopeEntry(ScopeEntry):
    """What is said of an API scope, beyond its name."""

    secrets: Many[SecretEntry] = ()
    """Any of them opens the introspection endpoint with the scope's name, for this scope only."""
