"""The rules of token exchange (RFC 8693), the targets of ID-JAGs, and the trust domains of transaction tokens.

The numbers of the drafts are in grants/token_exchange/.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from service.model import types
from service.protocol.token_types import RequestedTokenType, SubjectTokenType

EVERY_CLIENT = "*"
SELF = "self"
"""The name of this service among the issuers of subject tokens."""


class IdJagTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Another authorization server, and what clients may do there in the name of users of this service."""

    issuer: types.WebUrl
    """Its issuer identifier: the `audience` of the exchange, and the `aud` of the ID-JAG."""
    resources: tuple[types.Text, ...] = ()
    """The resources (RFC 8707) behind it that may be asked for; a request that names none gets all of them."""
    scopes: frozenset[types.ScopeValue] = frozenset()
    """The scope values there that may be asked for; a request that names none gets all of them."""
    client_ids: dict[types.ClientId, types.ClientId] = msgspec.field(default_factory=dict)
    """Clients of this service that have another client_id there: {ours: theirs}."""


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


class TrustDomain(msgspec.Struct, frozen=True, kw_only=True):
    """A trust domain, for whose workloads this service makes transaction tokens (draft-ietf-oauth-transaction-tokens-10)."""

    name: types.ClientId
    """The `aud` of its transaction tokens, and the `audience` of requests for them."""
    clients: frozenset[types.ClientId] = frozenset()
    """The clients that may ask for transaction tokens."""
    lifetime: types.Lifetime = 30
    """How long a transaction token lives; never longer than its subject token."""
    scopes: Annotated[frozenset[types.ScopeValue], msgspec.Meta(min_length=1)]
    """The purposes that may be asked for by `scope`; they need not be registered anywhere else."""
    transaction_context: dict[types.ScopeValue, frozenset[types.Text]] = msgspec.field(
        default_factory=dict
    )
    """By scope value: the members of `request_details` that become `tctx`; all others are left out."""
    subject_token_types: Annotated[
        frozenset[Literal["access_token", "self_signed", "unsigned_json"]],
        msgspec.Meta(min_length=1),
    ] = frozenset({"access_token"})
    """The subject tokens that are accepted: access_token of this service, self_signed by a key of the client, unsigned_json,
    which the client only claims."""
    replacement: frozenset[types.ClientId] = frozenset()
    """The clients that may replace a transaction token by one that says more or is for less."""
    max_context_bytes: Annotated[int, msgspec.Meta(ge=2, le=16384)] = 4096
    """The longest request_context and request_details, each as JSON."""
