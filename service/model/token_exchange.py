"""The rules of token exchange: clients, the tokens that they may exchange, and the results (RFC 8693)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from service.model import types
from service.model.id_jag_target import IdJagTarget
from service.protocol.token_types import RequestedTokenType, SubjectTokenType

EVERY_CLIENT = "*"
SELF = "self"
"""The name of this service among the issuers of subject tokens."""


class ExchangeRuleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of token exchange (RFC 8693); the first one that fits a request decides."""

    clients: Annotated[frozenset[types.ClientId], msgspec.Meta(min_length=1)]
    """The clients that may exchange; "*" is every client with the grant type."""
    subject_token_types: Annotated[frozenset[SubjectTokenType], msgspec.Meta(min_length=1)] = (
        frozenset({"access_token"})
    )
    """The types of subject tokens: refresh_token and id_token are only for the client's own, jwt for those of subject_issuers."""
    subject_audience: frozenset[types.Text] | None = None
    """The API resources of which one must be in the `aud` of a subject access token; null: the client's own API resource."""
    subject_issuers: Annotated[frozenset[types.Text], msgspec.Meta(min_length=1)] = frozenset(
        {SELF}
    )
    """The issuers of subject tokens: self, or names of trusted_issuers."""
    actor: Literal["none", "optional", "required"] = "optional"
    """Who acts for the user. none: nobody, the client impersonates the user. optional: the actor_token's subject, without an
    actor_token the client. required: the actor_token's subject."""
    requested_token_types: Annotated[frozenset[RequestedTokenType], msgspec.Meta(min_length=1)] = (
        frozenset({"access_token"})
    )
    """The types of tokens that may be asked for. Transaction tokens need no rule, but a trust domain."""
    scopes: frozenset[types.ScopeValue] = frozenset()
    """The scope values that may be asked for; a request without scope gets those of them that its client is allowed."""
    audiences: tuple[types.ClientId, ...] = ()
    """The API resources that the new token may be for."""
    targets: tuple[IdJagTarget, ...] = ()
    """The authorization servers for which ID-JAGs may be asked for (draft-ietf-oauth-identity-assertion-authz-grant-04); scopes
    and audiences have no effect on these."""
    max_depth: Annotated[int, msgspec.Meta(ge=1, le=20)] = 5
    """The most actors that are nested in `act`."""


class ExchangeCase(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The properties of a request by which a rule fits or not."""

    client_id: str
    subject_token_type: str
    subject_issuer: str | None
    """self, or the name of a trusted issuer; None if it is unknown."""
    requested_token_type: str
    has_actor: bool


class ExchangeRule(ExchangeRuleEntry, frozen=True, kw_only=True):
    """A rule that knows its place."""

    position: str
    """Derived: its file and line, for the audit log and `explain`."""

    def find_mismatch(self, case: ExchangeCase) -> str | None:
        """Return the first key by which the rule does not fit; None if it fits."""
        if case.client_id not in self.clients and EVERY_CLIENT not in self.clients:
            return "clients"
        if case.subject_token_type not in self.subject_token_types:
            return "subject_token_types"
        if case.subject_issuer not in self.subject_issuers:
            return "subject_issuers"
        if case.requested_token_type not in self.requested_token_types:
            return "requested_token_types"
        return "actor" if self.actor == ("none" if case.has_actor else "required") else None
