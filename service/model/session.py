"""Sessions, consents, and what waits for a person, a provider or a client on the way to them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from service.model.handle import digest

EXTERNAL = ("external",)
"""The `amr` of a sign-in at a provider that names no methods, or is not trusted to name them."""


class ProviderSession(msgspec.Struct, frozen=True, kw_only=True):
    """The session at an OpenID provider that a sign-in came from, and ends with (OIDC Back-Channel Logout §2.7)."""

    sub: str
    """The user's subject at the provider."""
    sid: str | None = None
    """The session's id, if the provider's ID token has one."""
    at: int
    """When the user signed in there; seconds since the epoch."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-in that later authorization requests may rely on (OIDC Session Management §1)."""

    id: str
    """The `sid` of tokens; public, unlike the cookie, of which only a hash is kept."""
    cookie_digest: str
    subject: str
    idp: str
    amr: tuple[str, ...]
    auth_time: int
    """When the person last authenticated; seconds since the epoch."""
    started_at: int
    ends_at: int
    """The absolute end; idle expiry is the record's TTL."""
    remember: bool
    user_agent: str
    acr: str | None = None
    """The authentication context that an identity provider named."""
    address: str = ""
    """Where the person last signed in from, shown on the account page; empty if unknown."""
    user_claims: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])
    """Mapped claims of a user from an identity provider; empty for a local user."""
    second_factor_amr: tuple[str, ...] = ()
    """Further methods that this service has verified, after those of `amr`."""
    provider_session: ProviderSession | None = None
    """None for a user who signed in here."""
    browser_digest: str = ""
    """The hash of the mark of the browser that the person last signed in with; empty if unknown."""

    @property
    def methods(self) -> tuple[str, ...]:
        """All authentication methods, as the `amr` of tokens."""
        if not self.second_factor_amr:
            return self.amr
        return tuple(dict.fromkeys((*self.amr, *self.second_factor_amr)))


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """The answers of the person since the request was parked; they count in the session that gave them alone."""

    session_id: str = ""
    subject: str = ""
    authenticated_at: int | None = None
    """The `auth_time` of the sign-in for this request; None before it."""
    account_selected: bool = False
    completed: frozenset[str] = frozenset()
    """The paths of further steps that are asked for once per request."""
    consented_scope: frozenset[str] | None = None
    consented_claims: frozenset[str] = frozenset()
    """Beyond those that the scope stands for."""

    @classmethod
    def after_sign_in(cls, session: Session) -> Answers:
        """Return the answer of a person that has just signed in; earlier ones may have been another's."""
        return cls(
            session_id=session.id, subject=session.subject, authenticated_at=session.auth_time
        )

    def after(self, path: str) -> Answers:
        """Return the answers with that of the step at this path."""
        return replace(self, completed=self.completed | {path})

    @property
    def authenticated(self) -> bool:
        """Whether the person has signed in for this request."""
        return self.authenticated_at is not None

    def of(self, session: Session | None) -> Answers:
        """Return the answers of this session: none where another session or user gave them, or an earlier sign-in is back."""
        if session is None:
            return Answers()
        who = (session.id, session.subject)
        is_of_session = (self.session_id, self.subject) == who
        if is_of_session and (self.authenticated_at or 0) <= session.auth_time:
            return self
        return Answers(session_id=session.id, subject=session.subject)


class SentCookies(msgspec.Struct, frozen=True):
    """The session cookies of a browser; empty where one is missing."""

    browser: str
    session: str
    partial_sign_in: str
    browser_state: str


class SealedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A parked request in the store: its parameters encrypted with a key that is derived from its id."""

    sealed: str
    browser_digest: str | None
    """The hash of the cookie of the browser that began it; None until a cross-site POST arrives."""
    answers: Answers


class SealedSignIn(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-in that lacks a step, encrypted with a key that is derived from its id."""

    sealed: str
    browser_digest: str


class Consent(
    msgspec.Struct, frozen=True, kw_only=True, rename={"unverified_client_host": "stranger_at"}
):
    """A consent that is remembered for later requests (OIDC Core §3.1.2.4)."""

    client_id: str
    scope: frozenset[str]
    claims: frozenset[str] = frozenset()
    """Claims requested by name, beyond those of the scope (OIDC Core §5.5)."""
    given_at: int
    unverified_client_host: str | None = None
    """The host of the redirect URI that the person saw, if the client is dynamically registered."""


class PendingSignIn(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-in at a provider, and what its answer has to match (OIDC Core §3.1.2.1, RFC 9700 §2.1)."""

    provider: str
    issuer: str
    """The provider's, as it was asked: an answer from another is a mix-up (RFC 9207 §2.4)."""
    issuer_is_sent: bool
    """Whether the provider's metadata promises `iss` in each answer (RFC 9207 §3)."""
    browser_digest: str
    """The hash of the cookie of the browser that was sent away."""
    nonce: str
    code_verifier: str
    began_at: int
    anew: bool
    """Whether the person has to authenticate again (prompt=login)."""
    max_age: int | None
    return_to: str | None = None
    """The page of this service that asked for the sign-in; None for the account, and for a client's request."""


class LogoutDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a session on its way to one client (OpenID Connect Back-Channel Logout §2.5)."""

    client_id: str
    session_id: str
    """Empty for the end of all that the client has of the user, who was in no session (§2.4)."""
    subject: str
    failures: int = 0
    cause: str | None = None
    """The reason of the last failure."""
    traceparent: str | None = None
    """The span in which the session ended (W3C Trace Context §3.2)."""

    @property
    def id(self) -> str:
        """The same for the same session and client, so that a repeated end is delivered once."""
        return digest(f"{self.session_id or f' {self.subject}'} {self.client_id}")
