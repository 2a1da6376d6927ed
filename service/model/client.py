"""The registration of a client (RFC 7591 §2, OpenID Connect Dynamic Client Registration §2)."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal

from service.model.catalogue import Feature
from service.model.handle import digest
from service.model.local_text import LocalText
from service.model.user import LOCAL
from service.protocol.redirect_uri import is_registered
from service.protocol.scope import OFFLINE_ACCESS

MARK_LENGTH = 8
"""Characters that `client_mark` returns."""

NEVER_MATCHES = bytes(32)
"""Compared if there is no secret, so that an unknown client takes as long as a known one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A shared secret, kept as its SHA-256; with its value only where a method needs it."""

    sha256: bytes = field(repr=False)
    value: str | None = field(repr=False)
    description: str | None
    expires_at: int | None


def verifies_any(secrets: Collection[Secret], given: str, *, now: int) -> bool:
    """Return whether a secret is one of these and has not expired; as slow if there are none."""
    digest = sha256(given.encode()).digest()
    known = [
        secret.sha256 for secret in secrets if secret.expires_at is None or now < secret.expires_at
    ]
    matches = [hmac.compare_digest(digest, other) for other in known or [NEVER_MATCHES]]
    return any(matches) and bool(known)


def client_mark(client_id: str) -> str:
    """Return a few characters that identify the client to this service alone."""
    return digest(client_id)[:MARK_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """The permissions of a client; clients with the same permissions can share one object."""

    grant_types: frozenset[str]
    scope: frozenset[str]
    enable_local_login: bool
    identity_providers: frozenset[str]
    """Empty for all of them."""

    def accepts_users_of(self, idp: str | None) -> bool:
        """Return whether users who signed in at this provider may use the client."""
        if idp == LOCAL:
            return self.enable_local_login
        return not self.identity_providers or idp in self.identity_providers


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A registered client; every member has the name of its key in the registry."""

    client_id: str
    client_name: str | LocalText | None
    enabled: bool
    client_uri: str | None
    logo_uri: str | None
    policy_uri: str | None
    tos_uri: str | None

    client_secrets: tuple[Secret, ...]
    jwks: Mapping[str, object] | None
    jwks_uri: str | None
    tls_client_auth_subject_dn: str | None
    tls_client_auth_san_dns: str | None
    self_signed_certificates: tuple[str, ...]
    token_endpoint_auth_method: str | None

    allowed_grant_types: frozenset[str]
    allowed_response_types: frozenset[str]
    default_response_mode: str | None
    allowed_scopes: frozenset[str]
    api_resource: str | None
    allow_offline_access: bool
    redirect_uris: tuple[str, ...]
    post_logout_redirect_uris: tuple[str, ...]
    allowed_cors_origins: tuple[str, ...]

    require_pkce: bool
    allow_plain_text_pkce: bool
    require_client_secret: bool
    require_pushed_authorization_requests: bool
    require_signed_request_object: bool
    dpop_bound_access_tokens: bool
    tls_client_certificate_bound_access_tokens: bool
    allow_access_tokens_via_browser: bool
    require_consent: bool
    allow_remember_consent: bool
    consent_lifetime: int | None
    user_sso_lifetime: int | None
    enable_local_login: bool
    identity_provider_restrictions: tuple[str, ...]

    access_token_type: Literal["jwt", "reference"]
    access_token_lifetime: int
    identity_token_lifetime: int
    authorization_code_lifetime: int
    device_code_lifetime: int
    refresh_token_usage: Literal["one_time", "reuse"]
    refresh_token_reuse_interval: int
    refresh_token_expiration: Literal["absolute", "sliding"]
    absolute_refresh_token_lifetime: int
    sliding_refresh_token_lifetime: int
    update_access_token_claims_on_refresh: bool

    claims: Mapping[str, object]
    client_claims_prefix: str
    always_send_client_claims: bool
    always_include_user_claims_in_id_token: bool
    id_token_signed_response_alg: str | None
    id_token_encrypted_response_alg: str | None
    id_token_encrypted_response_enc: str | None
    userinfo_signed_response_alg: str | None
    request_object_signing_alg: str | None
    authorization_signed_response_alg: str | None
    introspection_signed_response_alg: str | None
    subject_type: Literal["public", "pairwise"]
    sector_identifier_uri: str | None
    default_max_age: int | None
    frontchannel_logout_uri: str | None
    frontchannel_logout_session_required: bool
    backchannel_logout_uri: str | None
    backchannel_logout_session_required: bool
    properties: Mapping[str, object]
    metadata: Mapping[str, object]
    """All other registered metadata, such as `contacts` or `initiate_login_uri`."""
    dynamically_registered: bool
    """Whether it was registered by RFC 7591: then `outgoing.allowed_networks` limits where its URLs may lead."""
    unsupported_feature: Feature | None
    """A protection that its registration requires and this server does not support: it gets no token."""

    @property
    def is_public(self) -> bool:
        """Whether the client cannot keep a secret (RFC 6749 §2.1)."""
        return not self.require_client_secret

    @property
    def login_uri(self) -> str | None:
        """The URL at which a third party may begin a login at the client (OIDC Core §4)."""
        uri = self.metadata.get("initiate_login_uri")
        return None if uri is None else str(uri)

    @property
    def permissions(self) -> Permissions:
        """The permissions today, which count for older tokens, too."""
        offline = {OFFLINE_ACCESS} if self.allow_offline_access else frozenset[str]()
        return Permissions(
            grant_types=self.allowed_grant_types,
            scope=self.allowed_scopes | offline,
            enable_local_login=self.enable_local_login,
            identity_providers=frozenset(self.identity_provider_restrictions),
        )

    def has_redirect_uri(self, uri: str) -> bool:
        """Return whether this URI is registered; a public client's loopback port may vary (RFC 8252 §7.3)."""
        return is_registered(uri, self.redirect_uris, loopback_port_may_vary=self.is_public)

    def under_host(self, host: str) -> Client:
        """Return the client with its host in place of the name, logo and links that it chose for itself."""
        return replace(
            self, client_name=host, client_uri=None, logo_uri=None, policy_uri=None, tos_uri=None
        )

    @property
    def display_name(self) -> str:
        """The client's name for people."""
        return str(self.client_name or self.client_id)
