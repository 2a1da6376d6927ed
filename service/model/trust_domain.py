"""Trust domains, in which workloads pass transaction tokens on (draft-ietf-oauth-transaction-tokens, whose number is in grants/token_exchange/transaction_token.py)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from service.model import types


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
