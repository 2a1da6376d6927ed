"""A provider's user as a user of this service: a subject of our own, and claims by our names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar, cast

from service.config.registry import IDENTITY_RESOURCES
from service.identity.providers.id_token import seconds
from service.identity.sessions import SignIn
from service.keys.jose import VerifiedClaims
from service.model.handle import digest
from service.model.registry import IdentityProvider, Registry
from service.model.session import EXTERNAL, Session
from service.tokens.claims import without_protocol_claims

T = TypeVar("T", Session, SignIn)

STANDARD_CLAIMS = frozenset(name for names in IDENTITY_RESOURCES.values() for name in names)
"""Those of OIDC Core §5.1; they mean the same everywhere, and come by themselves."""


def sign_in_of(
    provider: IdentityProvider,
    claims: VerifiedClaims,
    userinfo: Mapping[str, object],
    *,
    now: int,
) -> SignIn:
    """Who signed in there, as sessions and tokens tell of it here.

    How and when is taken from what the provider signed alone; that counts more for the rest, too.
    """
    auth_time = seconds(claims.get("auth_time"))
    return SignIn(
        subject=local_subject(provider.name, str(claims["sub"])),
        idp=provider.name,
        amr=_amr(claims.get("amr")),
        acr=_acr(claims.get("acr")),
        auth_time=now if auth_time is None else min(auth_time, now),
        user_claims=local_claims(provider, {**userinfo, **claims}),
    )


def local_subject(provider: str, sub: str) -> str:
    """The same person is the same subject for ever, and never that of another provider (OIDC Core §5.7)."""
    return digest(f"{provider} {sub}")  # names of providers hold no space


def local_claims(provider: IdentityProvider, claims: Mapping[str, object]) -> dict[str, object]:
    """Standard claims, then those that the registry maps: none that means something to the protocol."""
    standard = {name: value for name, value in claims.items() if name in STANDARD_CLAIMS}
    mapped = {ours: claims[theirs] for theirs, ours in provider.claims.items() if theirs in claims}
    return without_protocol_claims(standard | mapped)


def with_trusted_methods(authenticated: T, registry: Registry) -> T:
    """Return it without the acr and amr of a provider whose word about them does not count."""
    if registry.trusts_methods_of(authenticated.idp):
        return authenticated
    return replace(authenticated, amr=EXTERNAL, acr=None)


def _acr(told: object) -> str | None:
    return told if isinstance(told, str) else None


def _amr(told: object) -> tuple[str, ...]:
    """The provider's own methods, where they are a list of words (RFC 8176 §1)."""
    if not isinstance(told, list) or not told:
        return EXTERNAL
    words = cast("list[object]", told)
    return tuple(map(str, words)) if all(isinstance(word, str) for word in words) else EXTERNAL
