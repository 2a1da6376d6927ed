"""Events of the token endpoint, and of APIs and proxies that ask about tokens."""

from __future__ import annotations

from service.events.event import Event, EventCounter


class TokenIssued(Event, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Tokens were issued; `authorization_details_types` is there only if they carry `authorization_details`, whose content is not logged."""

    webhooks = "name"
    counter = EventCounter("tokens_issued", "Token responses.", ("grant_type",))
    client_id: str
    grant_type: str
    subject: str | None
    scope: tuple[str, ...]
    """Sorted."""
    refreshable: bool
    authorization_details_types: tuple[str, ...] = ()


class TokenRefused(Event, frozen=True, kw_only=True):
    """A token request was answered with an error.

    `client_id` is the client that authenticated, or the one that the request names if it is registered, else `null`;
    `parameter` and `value`: docs/operations/logs.md#refused-values.
    """

    webhooks = "name"
    counter = EventCounter("token_refusals", "Refused token requests.", ("grant_type", "error"))
    client_id: str | None
    grant_type: str | None
    error: str
    cause: str
    parameter: str | None = None
    value: str | None = None
    """The refused value of the parameter, without anything that looks like a credential."""


class TokenExchangeJudged(Event, frozen=True, kw_only=True, gc=False):
    """A token exchange was allowed or refused.

    `rule` is the file and line of the rule of `token_exchange` that decided, `null` if none fits; `actor` is the party that
    acts for the subject; `cause` says why it was refused.
    """

    webhooks = "name"
    client_id: str
    rule: str | None
    allowed: bool
    requested_token_type: str
    subject: str | None
    actor: str | None
    scope: frozenset[str]
    audience: tuple[str, ...]
    cause: str | None


class TransactionTokenIssued(Event, frozen=True, kw_only=True, gc=False):
    """A transaction token was issued or replaced.

    `txn` finds the whole call chain; `workloads` are all that have requested it, the first one first, separated by commas.
    """

    webhooks = "name"
    client_id: str
    trust_domain: str
    txn: str
    subject: str
    scope: frozenset[str]
    workloads: str


class CodeReplayed(Event, frozen=True, kw_only=True):
    """An authorization code was sent a second time; all tokens issued for it were revoked."""

    level = "warning"
    counter = EventCounter("code_replays", "Authorization codes that came twice; alert on any.")
    client_id: str
    subject: str | None


class RefreshTokenReused(Event, frozen=True, kw_only=True):
    """A consumed refresh token was sent again; its family was revoked."""

    level = "warning"
    counter = EventCounter(
        "refresh_token_reuses", "Consumed refresh tokens that came again; alert on any."
    )
    client_id: str
    subject: str | None


class AssertionUsed(Event, frozen=True, kw_only=True):
    """A client got tokens by a JWT of the trusted issuer of that name; `subject` is the one that the user has here."""

    webhooks = "name"
    counter = EventCounter("assertions_used", "Assertions of trusted issuers.", ("issuer",))
    client_id: str
    issuer: str
    subject: str


class AssertionReplayed(Event, frozen=True, kw_only=True):
    """The same JWT of a trusted issuer came again, and was refused."""

    level = "warning"
    counter = EventCounter(
        "assertion_replays", "Assertions that came twice; alert on any.", ("issuer",)
    )
    client_id: str
    issuer: str


class ExtensionGrantFailed(Event, frozen=True, kw_only=True):
    """A handler of an extension grant raised, timed out or returned an unusable result."""

    level = "warning"
    counter = EventCounter(
        "extension_grant_failures", "Extension grants that failed.", ("grant_type",)
    )
    client_id: str
    grant_type: str
    cause: str


class TokenRevoked(Event, frozen=True, kw_only=True):
    """A client revoked a token of its own."""

    webhooks = "name"
    counter = EventCounter("tokens_revoked", "Tokens revoked by their clients.")
    client_id: str
    token_kind: str


class TokenIntrospected(Event, frozen=True, kw_only=True, gc=False):
    """An API introspected a token."""

    level = "debug"
    webhooks = "name"
    counter = EventCounter("introspections", "Introspection responses.", ("active",))
    caller: str
    active: bool


class TokenChecked(Event, frozen=True, kw_only=True, gc=False):
    """A proxy asked whether to pass on a request to an API (docs/gateways.md); `result` is `passed`, or the code of the refusal."""

    level = "debug"
    webhooks = "name"
    counter = EventCounter("token_checks", "Requests that proxies asked about.", ("api", "result"))
    api: str
    result: str


class RefreshTokensLoaded(Event, frozen=True, kw_only=True):
    """The operator has loaded refresh tokens of another server (`grants load`)."""

    count: int
