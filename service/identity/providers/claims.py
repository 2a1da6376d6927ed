"""Judges what a provider says: that its ID token answers our request, and who the user is here (OIDC Core §3.1.3.7, §3.1.3.8, §5.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hmac import compare_digest
from typing import TypeVar, cast

from msgspec.structs import replace

from service.identity.dex_subjects import find_dex_subject
from service.identity.providers.provider import ProviderRefused
from service.identity.providers.requests import ProviderTokens
from service.identity.sign_in import SignIn
from service.keys.foreign_keys import audiences_of, time_in
from service.keys.jose import JwtRefused, VerifiedClaims, unverified_header
from service.model.handle import digest
from service.model.identity_provider import VERIFIABLE, IdentityProvider
from service.model.registry import Registry
from service.model.resources import IDENTITY_RESOURCES
from service.model.session import EXTERNAL, PendingSignIn, ProviderSession, Session
from service.protocol.claims import read_verifications
from service.protocol.templates import LONGEST_SUBJECT
from service.tokens.claims import without_protocol_claims
from service.tokens.id_token import half_hash

T = TypeVar("T", Session, SignIn)

STANDARD_CLAIMS = frozenset(name for names in IDENTITY_RESOURCES.values() for name in names)
"""The claims of OIDC Core §5.1, which need no mapping."""


def check_id_token(
    claims: VerifiedClaims,
    tokens: ProviderTokens,
    pending: PendingSignIn,
    *,
    client_id: str,
    now: int,
    clock_skew: int,
) -> None:
    """Raise ProviderRefused with the first thing that is wrong with claims whose signature holds."""
    audience, azp, sub = claims.get("aud"), claims.get("azp"), claims.get("sub")
    audiences = audiences_of(audience)
    expires, issued, at = [_read_seconds(claims.get(name)) for name in ("exp", "iat", "auth_time")]
    begins = _read_seconds(claims.get("nbf") or 0)
    past, future = now - clock_skew, now + clock_skew
    at_hash, alg = claims.get("at_hash"), str(unverified_header(tokens.id_token or "")["alg"])
    nonce = str(claims.get("nonce", "")).encode()
    oldest = _find_oldest_sign_in(pending)
    problems = (
        # Numbers 2 to 5 of the section: the parties.
        (claims.get("iss") != pending.issuer, "another issuer made it"),
        (client_id not in audiences, "it is for another client"),
        (
            audiences != [client_id] and azp is None,
            "it is for several, and does not say to whom it was issued",
        ),
        (azp not in (None, client_id), "it was issued to another client"),
        (not isinstance(sub, str) or not 0 < len(sub) <= LONGEST_SUBJECT, "it names nobody"),
        # Numbers 9 and 10, and RFC 7519 §4.1.5: the times, with leeway for clocks that differ.
        (expires is None or issued is None, "it does not say when it was issued and expires"),
        (expires is not None and expires <= past, "it has expired"),
        (issued is not None and issued > future, "it is from the future"),
        (begins is None or begins > future, "it is not valid yet"),
        # Number 11, and the hash of the access token, if there is one (OIDC Core §3.1.3.8).
        (not compare_digest(nonce, pending.nonce.encode()), "its nonce is wrong"),
        (
            at_hash is not None
            and (tokens.access_token is None or at_hash != half_hash(tokens.access_token, alg)),
            "its at_hash is that of another access token",
        ),
        # Number 13: max_age and prompt=login were obeyed there.
        (pending.max_age is not None and at is None, "it does not say when the person signed in"),
        (at is not None and at < oldest - clock_skew, "the person signed in too long ago"),
        (at is not None and at > future, "the sign-in is from the future"),
    )
    for is_wrong, problem in problems:
        if is_wrong:
            raise ProviderRefused(f"its identity token: {problem}")


def _find_oldest_sign_in(pending: PendingSignIn) -> int:
    """Return the earliest auth_time that max_age and prompt=login accept."""
    oldest = pending.began_at if pending.anew else 0
    if pending.max_age is None:
        return oldest
    return max(oldest, pending.began_at - pending.max_age)


def combine_documents(
    provider: IdentityProvider, claims: VerifiedClaims, userinfo: Mapping[str, object]
) -> Mapping[str, object]:
    """Return what the ID token says, and userinfo beyond that; an address and whether it is verified are of one document."""
    combined: dict[str, object] = {**userinfo, **claims}
    for address, verified in _find_pairs(provider):
        if address in combined:
            source = claims if address in claims else userinfo
            combined.pop(verified, None)
            combined |= {name: source[name] for name in (verified,) if name in source}
    return read_verifications(combined)


def _find_pairs(provider: IdentityProvider) -> Iterator[tuple[str, str]]:
    """Return the standard claims of `VERIFIABLE`, and the provider's own that are mapped to them."""
    theirs = {ours: theirs for theirs, ours in provider.claims.items()}
    for address, verified in VERIFIABLE:
        yield address, verified
        if verified in theirs:
            yield theirs.get(address, address), theirs[verified]


def build_sign_in(
    provider: IdentityProvider, claims: VerifiedClaims, combined: Mapping[str, object], *, now: int
) -> SignIn:
    """Return the sign-in; its methods and time are taken from the signed claims alone, the user's claims from both documents."""
    auth_time, acr = _read_seconds(claims.get("auth_time")), claims.get("acr")
    standard = {name: value for name, value in combined.items() if name in STANDARD_CLAIMS}
    named = [(theirs, ours) for theirs, ours in provider.claims.items() if theirs in combined]
    mapped = {ours: combined[theirs] for theirs, ours in named}
    for address, verified in VERIFIABLE:
        if any(ours == address != theirs for theirs, ours in named):
            standard.pop(verified, None)  # which is about the standard claim alone
    at, sid = now if auth_time is None else min(auth_time, now), claims.get("sid")
    provider_session = ProviderSession(
        sub=str(claims["sub"]), sid=sid if isinstance(sid, str) else None, at=at
    )
    return SignIn(
        provider_session=provider_session if provider.is_openid else None,
        subject=find_linked_subject(provider, str(claims["sub"])),
        idp=provider.name,
        amr=_read_amr(claims.get("amr")),
        acr=acr if isinstance(acr, str) else None,
        auth_time=at,
        user_claims=read_verifications(without_protocol_claims(standard | mapped)),
    )


def find_linked_subject(provider: IdentityProvider, sub: str) -> str:
    """Return the subject here of a user of that provider: always the same, and never that of another provider (OIDC Core §5.7)."""
    if provider.subject_format == "dex":
        return find_dex_subject(sub, provider.connector_id or provider.name)
    return digest(f"{provider.name} {sub}")  # names of providers hold no space


def with_trusted_methods(authenticated: T, registry: Registry) -> T:
    """Return it without the acr and amr of a provider whose word about them does not count."""
    if registry.trusts_methods_of(authenticated.idp):
        return authenticated
    return replace(authenticated, amr=EXTERNAL, acr=None)


def _read_amr(claim: object) -> tuple[str, ...]:
    """Return the provider's own methods, if they are a list of words (RFC 8176 §1)."""
    words = cast("list[object]", claim) if isinstance(claim, list) else []
    are_words = bool(words) and all(isinstance(word, str) for word in words)
    return tuple(dict.fromkeys(map(str, words))) if are_words else EXTERNAL


def _read_seconds(value: object) -> int | None:
    """Return a NumericDate (RFC 7519 §2), or None for any other value."""
    try:
        seconds = time_in({"time": value}, "time")
    except JwtRefused:
        return None
    return None if seconds is None else int(seconds)
