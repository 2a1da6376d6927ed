"""An issuer whose JWTs are accepted as statements about users (RFC 7521 §3, RFC 7523 §3)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from service.model import types


class TrustedIssuer(msgspec.Struct, frozen=True, kw_only=True):
    """Another authorization server, identity provider or platform that makes assertions about users."""

    name: types.ShortName
    """The issuer's name in token_exchange rules and in the `idp` claim of tokens."""
    issuer: types.Text
    """The `iss` of its JWTs, compared character by character; without jwks and jwks_uri, its metadata are read below this URL
    (RFC 8414 §3, else OpenID Connect Discovery §4)."""
    jwks_uri: types.WebUrl | None = None
    """The URL at which it publishes its keys; null: the one in its metadata."""
    jwks: dict[str, object] | None = None
    """Its public keys (JWK set, RFC 7517), where nothing is to be fetched."""
    algorithms: Annotated[frozenset[types.SigningAlgorithm], msgspec.Meta(min_length=1)] = (
        frozenset({"RS256", "ES256"})
    )
    """The signature algorithms that are accepted from it."""
    audience: types.Text | None = None
    """The value that has to be in `aud`; null: the issuer or the token endpoint of this service."""
    max_lifetime: types.Lifetime = 600
    """The longest time from `iat` to `exp` of its JWTs."""
    subject: types.Text | None = None
    """The user's `sub` here, with claims of the JWT in braces; null: `NAME:{sub}`. Give this or identity_provider."""
    identity_provider: types.Text | None = None
    """The identity provider whose users it speaks about: they are the same users here as after a sign-in there."""
    claims: dict[str, types.Text] = msgspec.field(default_factory=dict)
    """Its claims and their names here, such as {mail: email}; no others are kept."""
    clients: frozenset[types.ClientId] = frozenset()
    """The clients that may present its JWTs; empty: every client with the grant type."""
    existing_user: bool = False
    """true: it may speak about users of the user store, too; false: a JWT whose subject is one of them is refused."""
    id_jag: bool = False
    """true: only ID-JAGs are accepted from it (draft-ietf-oauth-identity-assertion-authz-grant-04); list it twice to accept
    both kinds."""
    # The operator names the URL of its keys, which may therefore lead anywhere.
    dynamically_registered: ClassVar[bool] = False

    @property
    def subject_template(self) -> str:
        """The text that `subject` stands for; names hold no colon, so no two issuers share a subject by default."""
        return f"{self.name}:{{sub}}" if self.subject is None else self.subject

    def allows_client(self, client_id: str) -> bool:
        return not self.clients or client_id in self.clients
