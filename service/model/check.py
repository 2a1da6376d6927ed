"""A proxy's question about a request, before it passes the request on to an API."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from service.model import types


class CheckSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The answers of `/connect/check` about the API."""

    cache: types.Duration = 0
    """How long a proxy may use an answer again for the same token, URL and check. A revocation counts that much later. 0: never."""
    token: Literal["none", "jwt", "txn_token"] = "none"
    """What the API gets in place of the caller's token. jwt: a JWT for this API alone in `Authorization`, which lives for a minute
    at most; txn_token: a transaction token in `Txn-Token`; none: neither. Such answers are never used again."""
    trust_domain: types.ClientId | None = None
    """The trust domain of the transaction tokens; null: the only one of trust_domains."""


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """The requirements of a request to the API; proxies that append the original path name it (`/connect/check/API/NAME/…`)."""

    scope: frozenset[types.ScopeValue] = frozenset()
    """The scope values that the access token must all have."""
    acr: types.Text | None = None
    """The authentication context that the user must have met (RFC 9470); null: any."""
    max_age: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """How many seconds ago the user may have authenticated at most; null: any time."""
