"""Checks that a provider's ID token answers our own request (OIDC Core §3.1.3.7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hmac import compare_digest
from itertools import chain

from service.identity.providers.provider import ProviderRefused, ProviderTokens
from service.keys.jose import VerifiedClaims, unverified_header
from service.model.session import PendingSignIn
from service.tokens.id_token import half_hash

LONGEST_SUBJECT = 255
"""Characters (OIDC Core §2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Claims whose signature holds, and all that they are compared with."""

    claims: VerifiedClaims
    tokens: ProviderTokens
    pending: PendingSignIn
    client_id: str
    now: int
    clock_skew: int


def read_seconds(value: object) -> int | None:
    """Return a NumericDate (RFC 7519 §2), or None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value)


def _find_wrong_parties(answer: Answer) -> Iterator[str]:
    """Numbers 2 to 5 of the section."""
    claims, client_id = answer.claims, answer.client_id
    audience, azp, sub = claims.get("aud"), claims.get("azp"), claims.get("sub")
    if claims.get("iss") != answer.pending.issuer:
        yield "another issuer made it"
    if audience not in (client_id, [client_id]):
        if not isinstance(audience, list) or client_id not in audience:
            yield "it is for another client"
        if azp is None:
            yield "it is for several, and does not say to whom it was issued"
    if azp not in (None, client_id):
        yield "it was issued to another client"
    if not isinstance(sub, str) or not 0 < len(sub) <= LONGEST_SUBJECT:
        yield "it names nobody"


def _find_wrong_times(answer: Answer) -> Iterator[str]:
    """Numbers 9 and 10, with leeway for clocks that differ."""
    expires, issued = (read_seconds(answer.claims.get(name)) for name in ("exp", "iat"))
    if expires is None or issued is None:
        yield "it does not say when it was issued and expires"
    elif expires <= answer.now - answer.clock_skew:
        yield "it has expired"
    elif issued > answer.now + answer.clock_skew:
        yield "it is from the future"


def _find_wrong_binding(answer: Answer) -> Iterator[str]:
    """Number 11, and the hash of the access token, if there is one (OIDC Core §3.1.3.8)."""
    nonce, at_hash = str(answer.claims.get("nonce", "")), answer.claims.get("at_hash")
    if not compare_digest(nonce.encode(), answer.pending.nonce.encode()):
        yield "its nonce is wrong"
    alg = str(unverified_header(answer.tokens.id_token)["alg"])
    if at_hash is not None and at_hash != half_hash(answer.tokens.access_token, alg):
        yield "its at_hash is that of another access token"


def _find_wrong_auth_time(answer: Answer) -> Iterator[str]:
    """Number 13: max_age and prompt=login were obeyed there."""
    at, pending = read_seconds(answer.claims.get("auth_time")), answer.pending
    oldest = pending.began_at if pending.anew else 0
    if pending.max_age is not None:
        oldest = max(oldest, pending.began_at - pending.max_age)
        if at is None:
            yield "it does not say when the person signed in"
    if at is not None and at < oldest - answer.clock_skew:
        yield "the person signed in too long ago"
    if at is not None and at > answer.now + answer.clock_skew:
        yield "the sign-in is from the future"


CHECKS = (_find_wrong_parties, _find_wrong_times, _find_wrong_binding, _find_wrong_auth_time)


def check_id_token(answer: Answer) -> None:
    """Raise ProviderRefused with the first thing that is wrong."""
    for problem in chain.from_iterable(check(answer) for check in CHECKS):
        raise ProviderRefused(f"its identity token: {problem}")
