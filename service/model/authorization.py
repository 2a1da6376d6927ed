"""An authorization, which every grant ends in and every token begins with; its code, its refresh token and its key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from service.protocol.authorization_details import Detail
from service.protocol.claims import ClaimsRequest
from service.protocol.octets import random_text
from service.protocol.pkce import CodeChallenge
from service.protocol.scope import OFFLINE_ACCESS

DELEGATION = "delegation"
"""The grant type of a token that an API exchanged for a user's token, and its only `amr` value."""


class Authorization(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The scope that a user (or a client for itself) granted a client, and how the user authenticated.

    It holds `client_id` and never the client: no secret reaches Redis, and an edited registry
    counts at once. Every request reads it, so its record leaves out the defaults.
    """

    id: str
    """Selector of every handle that belongs to it; dropping its record revokes them all."""
    client_id: str
    scope: frozenset[str]
    resources: tuple[str, ...] = ()
    """The API resources asked for (RFC 8707 §2.1); empty where the scope decides."""
    subject: str | None = None
    """The user's `sub`; None where the client acts for itself (RFC 6749 §4.4)."""
    amr: tuple[str, ...] = ()
    acr: str | None = None
    idp: str | None = None
    auth_time: int | None = None
    session_id: str | None = None
    user_claims: Mapping[str, object] = {}
    """Claims of a user from an identity provider; those of a local user come from the user store."""
    claims: Mapping[str, object] = {}
    """Claims that an extension grant adds to the access token."""
    act: Mapping[str, object] | None = None
    """The party that acts for the subject (RFC 8693 §4.1)."""
    claims_request: ClaimsRequest | None = None
    """The claims that the client asked for by name (OIDC Core §5.5)."""
    grant_type: str | None = None
    """It ends when the client may no longer use this grant; None in older records."""
    family_key: str | None = None
    """The key that recognises its used refresh tokens; None where it has none."""
    authorization_details: tuple[Detail, ...] = ()
    """The permissions beyond the scope (RFC 9396 §7)."""
    cnf: Confirmation | None = None
    """The key that its tokens are bound to, unless a token request proves possession of another one."""
    source: Source | None = None
    """The token that it was exchanged for, which it ends with; None for every other authorization (RFC 8693)."""
    created_at: int

    @property
    def is_offline(self) -> bool:
        """Whether it outlives the session in which it was granted (OIDC Core §11)."""
        return OFFLINE_ACCESS in self.scope or self.session_id is None


class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The end of everything that came from it by token exchange (RFC 8693)."""

    selector: str | None = None
    """The id of an authorization or of a session; None for a token of another issuer."""
    name: str | None = None
    """The access token's name in an index; None where the authorization or session itself is the source."""
    is_session: bool = False
    expires_at: int
    """Nothing that came from it lives longer."""


def new_family_key(scope: frozenset[str], *, without_offline_access: bool = False) -> str | None:
    """Return a key for the refresh tokens of an authorization with this scope, if it will have any."""
    return random_text(16) if without_offline_access or OFFLINE_ACCESS in scope else None


class AuthorizationCode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The values that a code is bound to (RFC 6749 §4.1.2, RFC 7636 §4.4)."""

    redirect_uri: str
    code_challenge: CodeChallenge | None
    nonce: str | None


class RefreshToken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One refresh token of a family (RFC 6749 §6)."""

    seed: str
    """The successor is derived from it and the token: a repeated request gets the same one."""
    ends_at: int
    """The absolute end of the family, seconds since the epoch."""
    sealed_claims: bytes = b""
    """The user's claims of the first access token, encrypted with a key derived from the token."""
    user_claims: Mapping[str, object] = {}
    """The same in the clear, as in the first version of the record; not written any more."""
    cnf: Confirmation | None = None
    """The key that a public client has to prove possession of to use it (RFC 9449 §5, RFC 8705 §4)."""
    authorization_until: int = 0
    """Until then the authorization stays in the store without another write; 0 where that is not known."""


class Spent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Takes the place of a used code or refresh token, so that a replay is recognised."""

    attempt: str
    """The id of the request that used it: a retry by the store client is not a replay."""
    at: int
    refresh_token: RefreshToken | None = None
    """The used token, where a repeat within the reuse interval gets the same successor."""


def new_attempt() -> str:
    """Return the id of an attempt to use a code or token up: unique, but no secret."""
    return random_text(12)


ConfirmationMethod = Literal["jkt", "x5t#S256"]


class Confirmation(msgspec.Struct, frozen=True):
    """A DPoP key (`jkt`, RFC 9449 §6.1) or a client certificate (`x5t#S256`, RFC 8705 §3.1)."""

    method: ConfirmationMethod
    thumbprint: str
    """SHA-256 of the public key or of the certificate, base64url."""

    def as_claim(self) -> dict[str, str]:
        return {self.method: self.thumbprint}


def read_confirmation(cnf: object) -> Confirmation:
    """Read a `cnf` claim; ValueError unless it names one key by a method that is known here."""
    ((method, thumbprint),) = msgspec.convert(cnf, dict[ConfirmationMethod, str]).items()
    return Confirmation(method, thumbprint)


def token_type(cnf: Confirmation | None) -> Literal["Bearer", "DPoP"]:
    """Return the `token_type` of an access token that is bound to this key (RFC 9449 §5, RFC 8705 §3)."""
    return "DPoP" if cnf is not None and cnf.method == "jkt" else "Bearer"
