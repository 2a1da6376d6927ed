"""Makes a provider's user a user of this service: a subject of our own, and claims by our names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar, cast

from service.identity.providers.id_token import read_seconds
from service.identity.sign_ins import SignIn
from service.keys.jose import VerifiedClaims
from service.model.handle import digest
from service.model.registry import IdentityProvider, Registry
from service.model.resources import IDENTITY_RESOURCES
from service.model.session import EXTERNAL, Session
from service.tokens.claims import without_protocol_claims

T = TypeVar("T", Session, SignIn)

STANDARD_CLAIMS = frozenset(name for names in IDENTITY_RESOURCES.values() for name in names)
"""The claims of OIDC Core §5.1, which need no mapping."""


def build_sign_in(
    provider: IdentityProvider,
    claims: VerifiedClaims,
    userinfo: Mapping[str, object],
    *,
    now: int,
) -> SignIn:
    """Return the sign-in; its methods and time are taken from the signed claims alone."""
    auth_time, acr = read_seconds(claims.get("auth_time")), claims.get("acr")
    merged = {**userinfo, **claims}
    standard = {name: value for name, value in merged.items() if name in STANDARD_CLAIMS}
    mapped = {ours: merged[theirs] for theirs, ours in provider.claims.items() if theirs in merged}
    return SignIn(
        # The same user is always the same subject, and never that of another provider
        # (OIDC Core §5.7); names of providers hold no space.
        subject=digest(f"{provider.name} {claims['sub']}"),
        idp=provider.name,
        amr=_read_amr(claims.get("amr")),
        acr=acr if isinstance(acr, str) else None,
        auth_time=now if auth_time is None else min(auth_time, now),
        user_claims=without_protocol_claims(standard | mapped),
    )


def with_trusted_methods(authenticated: T, registry: Registry) -> T:
    """Return it without the acr and amr of a provider whose word about them does not count."""
    if registry.trusts_methods_of(authenticated.idp):
        return authenticated
    return replace(authenticated, amr=EXTERNAL, acr=None)


def _read_amr(claim: object) -> tuple[str, ...]:
    """Return the provider's own methods, if they are a list of words (RFC 8176 §1)."""
    words = cast("list[object]", claim) if isinstance(claim, list) else []
    are_words = bool(words) and all(isinstance(word, str) for word in words)
    return tuple(map(str, words)) if are_words else EXTERNAL
