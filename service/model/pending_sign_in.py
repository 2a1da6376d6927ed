"""A person on the way to an identity provider and back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSignIn:
    """What the provider's answer has to fit (OIDC Core §3.1.2.1, RFC 9700 §2.1)."""

    provider: str
    issuer: str
    """The provider's, as it was asked: an answer from another is a mix-up (RFC 9207 §2.4)."""
    issuer_is_sent: bool
    """Whether this provider says of itself that each answer carries `iss` (RFC 9207 §3)."""
    browser_digest: str
    """The hash of the cookie of the browser that was sent away."""
    nonce: str
    code_verifier: str
    began_at: int
    anew: bool
    """Whether the person had to prove anew who it is (prompt=login)."""
    max_age: int | None
