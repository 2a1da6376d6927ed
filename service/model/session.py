"""A person signed in at this browser, and what a person is being asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

EXTERNAL = ("external",)
"""The amr of a sign-in at an identity provider that does not say how, or is not trusted to say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A sign-in that later authorization requests may rely on (OIDC Session Management §1)."""

    id: str
    """The `sid` of tokens; public, unlike the cookie, of which only a hash is kept."""
    cookie_digest: str
    subject: str
    idp: str
    amr: tuple[str, ...]
    auth_time: int
    """When the person last proved who it is; seconds since the epoch."""
    started_at: int
    ends_at: int
    """The absolute end; idle expiry is the record's TTL."""
    remember: bool
    user_agent: str
    acr: str | None = None
    """The authentication context that an identity provider named."""
    address: str = ""
    """Where the person last signed in from, for the person to recognise the session by; empty if unknown."""
    user_claims: Mapping[str, object] = field(default_factory=dict[str, object])
    """Mapped claims of a user from an identity provider; empty for a local user."""
    second_factor_amr: tuple[str, ...] = ()
    """Further methods that this service has verified, after those of `amr`."""

    @property
    def methods(self) -> tuple[str, ...]:
        """All authentication methods, as the `amr` of tokens."""
        return (*self.amr, *self.second_factor_amr)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the person has answered since the request was parked."""

    authenticated: bool = False
    account_selected: bool = False
    consented_scope: frozenset[str] | None = None
    consented_claims: frozenset[str] = frozenset()
    """Beyond those that the scope stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedRequest:
    """An authorization request that waits for a person; it is validated anew when it goes on."""

    params: Mapping[str, tuple[str, ...]]
    browser_digest: str | None
    """The hash of the cookie of the browser that began it; None until a cross-site POST arrives."""
    answers: Answers = field(default_factory=Answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedRequest:
    """A request that waits, as it is kept: its parameters under a key that is made of its id."""

    sealed: str
    browser_digest: str | None
    answers: Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedSignIn:
    """A sign-in that lacks a step, encrypted with a key that is derived from its id."""

    sealed: str
    browser_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """What a person allowed a client for later requests too (OIDC Core §3.1.2.4)."""

    client_id: str
    scope: frozenset[str]
    claims: frozenset[str] = frozenset()
    """Asked for by name, beyond those that the scope stands for (OIDC Core §5.5)."""
    given_at: int
    stranger_at: str | None = None
    """The host that the person saw the answer go to, of a client that registered itself."""
