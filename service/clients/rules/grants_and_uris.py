"""Rules on grants and URIs of a client (RFC 6749 §3.1.2, §4.4, RFC 9700 §2.1.1, §2.2.2, §2.6, §4.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from service.config.problem import Finding, find_closest, warning
from service.config.registry import implied_response_types, response_types
from service.model.client_entry import ClientEntry
from service.protocol.redirect_uri import is_origin, origin_of
from service.protocol.uris import is_loopback, is_public, is_unencrypted, split_uri

MAX_CODE_LIFETIME = 60
_DANGEROUS_SCHEMES = frozenset(
    {
        *("about", "blob", "chrome", "content", "data", "feed", "file", "filesystem", "ftp"),
        *("intent", "jar", "javascript", "livescript", "mailto", "mhtml", "mk", "res", "resource"),
        *("vbscript", "view-source", "ws", "wss"),
    }
)
_FORBIDDEN_CHARACTERS = re.compile(r"[\x00-\x20\x7f\\<>\"{}|^`]|[^\x00-\x7f]")


def response_types_can_be_used(client: ClientEntry) -> Iterator[Finding]:
    """A code needs authorization_code, a token from the front channel needs implicit (RFC 7591 §2.1).

    With an access token it needs allow_access_tokens_via_browser, too.
    """
    for name in sorted(response_types(client) - implied_response_types(client)):
        needed = ["authorization_code"] if "code" in name.split() else []
        needed += ["implicit"] if "token" in name else []
        message = f"the response type {name} needs the grant types {' and '.join(needed)}"
        yield Finding(("allowed_response_types", name), message, "RFC 7591 §2.1")
    if client.allow_access_tokens_via_browser:
        return
    for name in sorted(client.allowed_response_types or ()):
        if "token" in name.split():
            message = f"the response type {name} needs allow_access_tokens_via_browser"
            yield Finding(("allowed_response_types", name), message)


def redirect_uris_are_safe(client: ClientEntry) -> Iterator[Finding]:
    """A code or token goes to one exact place that belongs to the client (RFC 9700 §4.1, RFC 8252 §7)."""
    for name in ("redirect_uris", "post_logout_redirect_uris"):
        uris: tuple[str, ...] = getattr(client, name)
        for at, uri in enumerate(uris):
            for finding in (*_judge_redirect_uri(uri), *_judge_http(client, name, uri)):
                yield finding.below(name, at)


def _judge_redirect_uri(uri: str) -> Iterator[Finding]:
    parts = split_uri(uri)
    if parts is None or not parts.scheme:
        yield Finding((), "expected an absolute URI (RFC 6749 §3.1.2)")
    elif parts.scheme in _DANGEROUS_SCHEMES:
        yield Finding((), f"the scheme {parts.scheme}: is dangerous in a redirect")
    elif _FORBIDDEN_CHARACTERS.search(uri):
        yield Finding((), "has characters that a URI cannot have", "percent-encode them")
    elif "*" in uri:
        message = "redirect URIs are compared exactly; a * stands for itself"
        yield Finding((), message, "list each one")
    elif "#" in uri:
        yield Finding((), "a redirect URI has no fragment (RFC 6749 §3.1.2)")
    elif parts.scheme not in {"http", "https"}:
        yield from _judge_private_use_scheme(parts)
    elif not parts.hostname or "@" in parts.netloc:
        message = "has user information before its host" if parts.hostname else "has no host"
        yield Finding((), message)


def _judge_private_use_scheme(parts: SplitResult) -> Iterator[Finding]:
    is_like_host = parts.scheme == "localhost" or "." in parts.scheme
    if is_like_host and not parts.netloc and parts.path[:1].isdecimal():
        web = "http" if is_loopback(parts.scheme) else "https"
        message = f"{parts.scheme}: is read as a private-use scheme, not as a host"
        yield warning((), message, f"did you mean {web}://{parts.geturl()}?")
    elif "." not in parts.scheme:
        message = "a private-use scheme should be a reversed domain name, such as com.example.app"
        yield warning((), message, "RFC 8252 §7.1")


def _judge_http(client: ClientEntry, name: str, uri: str) -> Iterator[Finding]:
    """Find codes and tokens that cross the public network unencrypted (RFC 9700 §2.6)."""
    parts = split_uri(uri)
    host = parts.hostname or "" if parts and parts.scheme == "http" else ""
    if not host or is_loopback(host):
        return
    message = "with http, everyone on the way can read the answer"
    if name == "post_logout_redirect_uris" or not is_public(host):
        yield warning((), message, "use https")
    elif not client.allow_insecure_redirect_uris:
        hint = "use https, or set allow_insecure_redirect_uris: true"
        yield Finding((), message, hint)


def cors_origins_are_origins(client: ClientEntry) -> Iterator[Finding]:
    """An Origin header has neither path nor wildcard (RFC 6454 §7)."""
    for at, origin in enumerate(client.allowed_cors_origins):
        if split_uri(origin) is None or not is_origin(origin):
            message = "expected an origin such as https://app.example.com (RFC 6454 §6.2)"
            hint = "no path, no slash at the end, no *; of an app or extension such as capacitor://localhost"
            yield Finding(("allowed_cors_origins", at), message, hint)


def logout_uris_are_encrypted(client: ClientEntry) -> Iterator[Finding]:
    """Nobody on the way learns whose session has ended (OpenID Connect Back-Channel Logout §2.2)."""
    for name in ("frontchannel_logout_uri", "backchannel_logout_uri"):
        uri: str = getattr(client, name) or ""
        if is_unencrypted(uri):
            yield Finding((name,), "http is for loopback addresses", "use https")
        if "#" in uri:
            yield Finding((name,), "has no fragment (OpenID Connect Back-Channel Logout §2.2)")


def keys_come_from_the_client(client: ClientEntry) -> Iterator[Finding]:
    """Nobody on the way can replace the keys of a client (RFC 7591 §5)."""
    if is_unencrypted(client.jwks_uri or ""):
        message = "should be https; otherwise anyone on the way could authenticate as this client"
        yield warning(("jwks_uri",), message)


def login_starts_safely(client: ClientEntry) -> Iterator[Finding]:
    """initiate_login_uri is https, or loopback, and has no fragment (OIDC Core §4)."""
    uri, location = client.initiate_login_uri or "", ("initiate_login_uri",)
    if is_unencrypted(uri):
        yield Finding(location, "must be https, except on loopback (OIDC Core §4)")
    if urlsplit(uri).fragment:
        yield Finding(location, "has no fragment")


def grants_fit_the_client(client: ClientEntry) -> Iterator[Finding]:
    """client_credentials is for confidential clients, and a frame is at the client's own origin."""
    grant_types, logout_uri = client.allowed_grant_types, client.frontchannel_logout_uri
    if not client.require_client_secret and "client_credentials" in grant_types:
        message = "a client without a secret cannot use client_credentials (RFC 6749 §4.4)"
        yield Finding(("allowed_grant_types", "client_credentials"), message)
    own_origins = {origin_of(uri) for uri in client.redirect_uris if split_uri(uri) is not None}
    if logout_uri is not None and origin_of(logout_uri) not in own_origins:
        message = "its scheme, host and port are not those of a redirect URI"
        hint = "OpenID Connect Front-Channel Logout §2"
        yield Finding(("frontchannel_logout_uri",), message, hint)


def responses_have_a_use(client: ClientEntry) -> Iterator[Finding]:
    """Grant types, response types and redirect URIs go together (RFC 6749 §3.1.2)."""
    uses_authorize = bool(response_types(client))
    if not client.allowed_grant_types:
        message = "is empty, so this client gets no token"
        hint = "leave it out for authorization_code, or list what the client uses"
        yield warning(("allowed_grant_types",), message, hint)
    mode, encrypted = client.default_response_mode, client.authorization_encrypted_response_alg
    is_readable = mode == "query" or (mode == "query.jwt" and encrypted is None)
    if is_readable and "code" not in response_types(client):
        message = f"{mode} is for the response type code, which this client may not use"
        yield Finding(("default_response_mode",), message, "use fragment or form_post")
    if uses_authorize and not client.redirect_uris:
        message = "is empty, so the authorize endpoint refuses this client"
        yield warning(("redirect_uris",), message, "add one")
    have_no_use = client.redirect_uris and not uses_authorize
    # One that is misspelt is a finding of its own.
    if have_no_use and find_closest("authorization_code", client.allowed_grant_types) is None:
        message = "no grant type of this client uses them"
        yield warning(("redirect_uris",), message, "add authorization_code")


def refresh_tokens_can_be_used(client: ClientEntry) -> Iterator[Finding]:
    """Refresh tokens need offline_access and the grant type (OIDC Core §11); those of public clients rotate."""
    may_refresh, offline = "refresh_token" in client.allowed_grant_types, "offline_access"
    allow_offline = "set allow_offline_access: true"
    without = "refresh_without_offline_access"
    if (
        may_refresh
        and not client.allow_offline_access
        and not client.refresh_without_offline_access
    ):
        message = "without allow_offline_access this client never gets a refresh token"
        yield warning(("allowed_grant_types", "refresh_token"), message, allow_offline)
    for key in ("allow_offline_access", without) if not may_refresh else ():
        if getattr(client, key):
            message = (
                "without the grant type refresh_token this client cannot use its refresh tokens"
            )
            hint = "add refresh_token to allowed_grant_types"
            yield warning((key,), message, hint)
    if offline in client.allowed_scopes and not client.allow_offline_access:
        message = "offline_access is allowed by allow_offline_access, not here"
        yield warning(("allowed_scopes", offline), message, allow_offline)
    if not client.require_client_secret and client.refresh_token_usage == "reuse":
        message = "the refresh tokens of a public client should be one_time"
        yield warning(("refresh_token_usage",), message, "RFC 9700 §2.2.2")
    sliding, longest = client.sliding_refresh_token_lifetime, client.absolute_refresh_token_lifetime
    if client.refresh_token_expiration == "sliding" and sliding > longest:
        message = "is longer than absolute_refresh_token_lifetime, which ends it first"
        yield warning(("sliding_refresh_token_lifetime",), message)


def codes_are_protected(client: ClientEntry) -> Iterator[Finding]:
    """PKCE protects the code of a public client, and codes are short-lived (RFC 9700 §2.1.1, §4.5)."""
    uses_codes = "authorization_code" in client.allowed_grant_types
    if uses_codes and not client.require_pkce and not client.require_client_secret:
        message = "without PKCE, whoever sees a code of a public client can use it"
        yield warning(("require_pkce",), message, "RFC 9700 §2.1.1")
    if uses_codes and client.allow_plain_text_pkce:
        message = "a plain challenge shows the verifier to whoever sees the request"
        yield warning(("allow_plain_text_pkce",), message, "RFC 9700 §2.1.1")
    if client.authorization_code_lifetime > MAX_CODE_LIFETIME:
        yield warning(("authorization_code_lifetime",), "a code should live 60 seconds at most")
