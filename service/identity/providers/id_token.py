"""Is this identity token the provider's answer to our own request? (OIDC Core §3.1.3.7)"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hmac import compare_digest

from service.identity.providers.exchange import ProviderTokens
from service.identity.providers.failures import ProviderRefused
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

    def number(self, name: str) -> int | None:
        """A time in seconds since the epoch; None where there is none."""
        return seconds(self.claims.get(name))


def seconds(value: object) -> int | None:
    """A NumericDate (RFC 7519 §2), or None where it is something else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value)


def the_issuer_is_the_one_that_was_asked(answer: Answer) -> str | None:
    """Number 2 of the section."""
    return None if answer.claims.get("iss") == answer.pending.issuer else "another issuer made it"


def it_is_for_us(answer: Answer) -> str | None:
    """Numbers 3 to 5: we are in the audience, and it was issued to us where others are too."""
    audience, azp = answer.claims.get("aud"), answer.claims.get("azp")
    if audience not in (answer.client_id, [answer.client_id]):
        if not isinstance(audience, list) or answer.client_id not in audience:
            return "it is for another client"
        if azp is None:
            return "it is for several, and does not say to whom it was issued"
    return None if azp in (None, answer.client_id) else "it was issued to another client"


def it_is_valid_now(answer: Answer) -> str | None:
    """Numbers 9 and 10, with leeway for clocks that differ."""
    expires, issued = answer.number("exp"), answer.number("iat")
    if expires is None or issued is None:
        return "it does not say when it was issued and expires"
    if expires <= answer.now - answer.clock_skew:
        return "it has expired"
    return "it is from the future" if issued > answer.now + answer.clock_skew else None


def the_nonce_is_ours(answer: Answer) -> str | None:
    """Number 11: it answers this browser's own request."""
    nonce = str(answer.claims.get("nonce", "")).encode()
    return None if compare_digest(nonce, answer.pending.nonce.encode()) else "its nonce is wrong"


def the_access_token_belongs_to_it(answer: Answer) -> str | None:
    """Where the provider binds the two (OIDC Core §3.1.3.8)."""
    at_hash = answer.claims.get("at_hash")
    if at_hash is None:
        return None
    alg = str(unverified_header(answer.tokens.id_token)["alg"])
    fits = at_hash == half_hash(answer.tokens.access_token, alg)
    return None if fits else "its at_hash is that of another access token"


def it_names_the_user(answer: Answer) -> str | None:
    """A subject identifier is 1 to 255 characters (OIDC Core §2)."""
    sub = answer.claims.get("sub")
    named = isinstance(sub, str) and 0 < len(sub) <= LONGEST_SUBJECT
    return None if named else "it names nobody"


def the_sign_in_is_recent_enough(answer: Answer) -> str | None:
    """Number 13: what the client asked by max_age or prompt=login has been done there."""
    at, pending = answer.number("auth_time"), answer.pending
    if at is None:
        return None if pending.max_age is None else "it does not say when the person signed in"
    oldest = pending.began_at if pending.anew else 0
    if pending.max_age is not None:
        oldest = max(oldest, pending.began_at - pending.max_age)
    if at < oldest - answer.clock_skew:
        return "the person signed in too long ago"
    return "the sign-in is from the future" if at > answer.now + answer.clock_skew else None


CHECKS: tuple[Callable[[Answer], str | None], ...] = (
    the_issuer_is_the_one_that_was_asked,
    it_is_for_us,
    it_is_valid_now,
    the_nonce_is_ours,
    the_access_token_belongs_to_it,
    it_names_the_user,
    the_sign_in_is_recent_enough,
)


def check_id_token(answer: Answer) -> None:
    """Raise ProviderRefused with the first check that fails."""
    for check in CHECKS:
        wrong = check(answer)
        if wrong is not None:
            raise ProviderRefused(f"its identity token: {wrong}")
