"""Rules on what a client may ask for and how it gets the answer."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.problem import Finding, warning
from service.config.registry import implied_response_types, response_types
from service.config.schema.client import ClientEntry

MAX_CODE_LIFETIME = 60


def public_client_cannot_act_for_itself(client: ClientEntry) -> Iterator[Finding]:
    """client_credentials is for clients that keep a secret (RFC 6749 §4.4)."""
    if not client.require_client_secret and "client_credentials" in client.allowed_grant_types:
        message = "a client without a secret cannot use client_credentials (RFC 6749 §4.4)"
        yield Finding(("allowed_grant_types", "client_credentials"), message)


def client_has_a_grant_type(client: ClientEntry) -> Iterator[Finding]:
    """Warn of a client that gets no token."""
    if not client.allowed_grant_types:
        message = "is empty, so this client gets no token"
        hint = "leave it out for authorization_code, or list what the client uses"
        yield warning(("allowed_grant_types",), message, hint)


def response_types_follow_from_grant_types(client: ClientEntry) -> Iterator[Finding]:
    """A code needs authorization_code, a token from the front channel implicit (RFC 7591 §2.1)."""
    for name in sorted(response_types(client) - implied_response_types(client)):
        needed = ["authorization_code"] if "code" in name.split() else []
        needed += ["implicit"] if "token" in name else []
        message = f"the response type {name} needs the grant types {' and '.join(needed)}"
        yield Finding(("allowed_response_types", name), message, "RFC 7591 §2.1")


def tokens_in_the_browser_are_allowed(client: ClientEntry) -> Iterator[Finding]:
    """Who lists a response type with an access token wants allow_access_tokens_via_browser."""
    if client.allow_access_tokens_via_browser or client.allowed_response_types is None:
        return
    for name in sorted(client.allowed_response_types):
        if "token" in name.split():
            message = f"the response type {name} needs allow_access_tokens_via_browser"
            yield Finding(("allowed_response_types", name), message)


def query_never_carries_tokens(client: ClientEntry) -> Iterator[Finding]:
    """Response mode query is for codes (OAuth 2.0 Multiple Response Types §3)."""
    if client.default_response_mode == "query" and "code" not in response_types(client):
        message = "query is for the response type code, which this client may not use"
        yield Finding(("default_response_mode",), message, "use fragment or form_post")


def answers_have_somewhere_to_go(client: ClientEntry) -> Iterator[Finding]:
    """The authorize endpoint answers at registered URIs only (RFC 6749 §3.1.2)."""
    uses_authorize = bool(response_types(client))
    if uses_authorize and not client.redirect_uris:
        message = "none is registered, so the authorize endpoint refuses this client"
        yield warning(("redirect_uris",), message, "add one")
    if client.redirect_uris and not uses_authorize:
        message = "no grant type of this client uses them"
        yield warning(("redirect_uris",), message, "add authorization_code")


def refresh_tokens_need_both_settings(client: ClientEntry) -> Iterator[Finding]:
    """A refresh token is for offline_access, and its use for the grant type (OIDC Core §11)."""
    may_refresh = "refresh_token" in client.allowed_grant_types
    if may_refresh and not client.allow_offline_access:
        message = "without allow_offline_access this client never gets a refresh token"
        yield warning(
            ("allowed_grant_types", "refresh_token"), message, "set allow_offline_access: true"
        )
    if client.allow_offline_access and not may_refresh:
        message = "without the grant type refresh_token this client cannot use its refresh tokens"
        hint = "add refresh_token to allowed_grant_types"
        yield warning(("allow_offline_access",), message, hint)
    if "offline_access" in client.allowed_scopes and not client.allow_offline_access:
        message = "offline_access is allowed by allow_offline_access, not here"
        yield warning(
            ("allowed_scopes", "offline_access"), message, "set allow_offline_access: true"
        )


def pkce_protects_public_clients(client: ClientEntry) -> Iterator[Finding]:
    """Nothing else protects the code of a public client (RFC 9700 §2.1.1)."""
    if "authorization_code" not in client.allowed_grant_types:
        return
    if not client.require_pkce and not client.require_client_secret:
        message = "a public client without PKCE loses its codes to whoever sees them"
        yield warning(("require_pkce",), message, "RFC 9700 §2.1.1")
    if client.allow_plain_text_pkce:
        message = "a plain challenge shows the verifier to whoever sees the request"
        yield warning(("allow_plain_text_pkce",), message, "RFC 9700 §2.1.1")


def lifetimes_make_sense(client: ClientEntry) -> Iterator[Finding]:
    """A code is short-lived (RFC 9700 §4.5), and what slides does so below its absolute end."""
    if client.authorization_code_lifetime > MAX_CODE_LIFETIME:
        message = "a code should live 60 seconds at most"
        yield warning(("authorization_code_lifetime",), message)
    slides = client.refresh_token_expiration == "sliding"
    if slides and client.sliding_refresh_token_lifetime > client.absolute_refresh_token_lifetime:
        message = "is longer than absolute_refresh_token_lifetime, which ends it first"
        yield warning(("sliding_refresh_token_lifetime",), message)


def refresh_tokens_of_public_clients_rotate(client: ClientEntry) -> Iterator[Finding]:
    """A stolen one would otherwise go unnoticed (RFC 9700 §2.2.2)."""
    if not client.require_client_secret and client.refresh_token_usage == "reuse":
        message = "the refresh tokens of a public client should be one_time"
        yield warning(("refresh_token_usage",), message, "RFC 9700 §2.2.2")
