"""Sending a person to a provider: the authorization request (OIDC Core §3.1.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

from service.identity.providers.metadata import ProviderMetadata
from service.model.registry import IdentityProvider
from service.model.session import PendingSignIn
from service.protocol.pkce import S256, s256
from service.protocol.prompt import PROMPTS
from service.protocol.redirect_uri import with_query


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the client asked for that is the provider's to fulfil."""

    prompt: frozenset[str] = frozenset()
    max_age: int | None = None
    login_hint: str | None = None
    ui_locales: str | None = None


def authorization_url(
    metadata: ProviderMetadata,
    provider: IdentityProvider,
    pending: PendingSignIn,
    wishes: Wishes,
    *,
    redirect_uri: str,
    state: str,
) -> str:
    """Where the browser goes: a code is asked for, bound by state, nonce and PKCE (RFC 9700 §2.1.1)."""
    parameters: dict[str, str | None] = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": redirect_uri,
        "scope": " ".join(provider.scopes),
        "state": state,
        "nonce": pending.nonce,
        "code_challenge": s256(pending.code_verifier),
        "code_challenge_method": S256,
        "prompt": " ".join(one for one in PROMPTS if one in wishes.prompt) or None,
        "max_age": None if wishes.max_age is None else str(wishes.max_age),
        "login_hint": wishes.login_hint,
        "ui_locales": wishes.ui_locales,
    }
    endpoint, _, _ = metadata.authorization_endpoint.partition("#")
    sent = {name: value for name, value in parameters.items() if value is not None}
    return with_query(endpoint, sent)
