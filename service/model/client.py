"""The registration of a client (RFC 7591 §2, OpenID Connect Dynamic Client Registration §2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from service.model.client_entry import ClientEntry, Mark
from service.model.client_metadata import marked
from service.model.grant_types import BY_SESSION, SIGN_INS, WITHOUT_REDIRECT_URI
from service.model.handle import name_digest
from service.model.profiles import FAPI2, MESSAGE_SIGNING
from service.model.user import LOCAL, is_any_met
from service.protocol.redirect_uri import is_registered, with_query
from service.protocol.scope import OFFLINE_ACCESS

MARK_LENGTH = 8
"""Characters that `client_mark` returns."""


def client_mark(client_id: str) -> str:
    """Return a few characters that identify the client to this service alone."""
    return name_digest(client_id)[:MARK_LENGTH]


def mark_in(parked_id: str) -> str:
    """Return the mark of the client whose authorization request has, or had, this id."""
    return parked_id[-MARK_LENGTH:]


class AllowedUsers(msgspec.Struct, frozen=True, eq=False):
    """Conditions on the users of a client; no two are equal, because Python takes true for 1."""

    conditions: tuple[Mapping[str, Collection[object]], ...]

    def include(self, claims: Mapping[str, object]) -> bool:
        """Return whether a user with these claims, `sub` among them, may use the client."""
        return is_any_met(self.conditions, claims)


class Permissions(msgspec.Struct, frozen=True, kw_only=True):
    """The permissions of a client; clients with the same permissions can share one object."""

    grant_types: frozenset[str]
    scope: frozenset[str]
    authorization_details_types: frozenset[str]
    enable_local_login: bool
    identity_providers: frozenset[str]
    """Empty for all of them."""
    allowed_users: AllowedUsers | None = None
    """None for all users."""
    tenants: frozenset[str] = frozenset()
    """Empty for the users of all tenants, and of none."""
    refresh_without_offline_access: bool = False

    @property
    def restrict_users(self) -> bool:
        """Whether it has to be known who a user is to say whether the user may use the client."""
        return self.allowed_users is not None or bool(self.tenants)

    def accepts_users_of(self, idp: str | None) -> bool:
        """Return whether users who signed in at this provider may use the client."""
        if idp == LOCAL:
            return self.enable_local_login
        return not self.identity_providers or idp in self.identity_providers


class Client(ClientEntry, frozen=True, kw_only=True):
    """A client with what follows from its keys, from the API resources and from the catalogue."""

    allowed_response_types: frozenset[str] = frozenset()
    dynamically_registered: bool
    """Whether it was registered by RFC 7591: then `outgoing.allowed_networks` limits where its URLs may lead."""
    default_signing_alg: str | None = None
    """The algorithm of access tokens for APIs that name none; None: the service's first."""

    @property
    def is_public(self) -> bool:
        """Whether the client cannot keep a secret (RFC 6749 §2.1)."""
        return not self.require_client_secret

    @property
    def is_anybodys(self) -> bool:
        """Whether anybody can send its requests: it has no secret, or anybody may have registered it."""
        return self.is_public or self.dynamically_registered

    @property
    def follows_fapi2(self) -> bool:
        """Whether it is held to a profile of FAPI 2.0."""
        return self.profile in FAPI2

    @property
    def signs_messages(self) -> bool:
        """Whether its requests are signed by the rules of FAPI 2.0 Message Signing."""
        return self.profile == MESSAGE_SIGNING

    @property
    def gets_signed_responses_only(self) -> bool:
        """Whether authorization responses in another mode than a JWT are refused (FAPI 2.0 Message Signing §5.4.1)."""
        options = self.profile_options
        return self.signs_messages and (options is None or options.response != "plain")

    @property
    def permissions(self) -> Permissions:
        """The permissions today, which count for older tokens, too."""
        offline = {OFFLINE_ACCESS} if self.allow_offline_access else frozenset[str]()
        return Permissions(
            grant_types=self.allowed_grant_types,
            scope=self.allowed_scopes | offline,
            authorization_details_types=frozenset(self.authorization_details_types or ()),
            enable_local_login=self.enable_local_login,
            identity_providers=frozenset(self.identity_provider_restrictions),
            allowed_users=AllowedUsers(self.allowed_users) if self.allowed_users else None,
            tenants=self.tenants,
            refresh_without_offline_access=self.refresh_without_offline_access,
        )

    def refreshes_without_offline_access(self, grant_type: str | None) -> bool:
        """Return whether what a user grants by this grant type brings refresh tokens without that scope, too."""
        return self.refresh_without_offline_access and grant_type in SIGN_INS

    @property
    def is_known_by_redirect_uri(self) -> bool:
        """Whether its redirect URIs show which host it belongs to: an operator has seen them, or all its tokens of users go there."""
        return not (self.dynamically_registered and self.allowed_grant_types & WITHOUT_REDIRECT_URI)

    @property
    def is_told_of_session(self) -> bool:
        """Whether its ID tokens have `sid`: it hears of the session's end, ends it itself, or uses the ID token for another token.

        For all others it is a claim that nobody asked for (OpenID Connect Front-Channel Logout §3, Back-Channel Logout §2.1).
        """
        hears = self.frontchannel_logout_uri or self.backchannel_logout_uri
        uses = self.post_logout_redirect_uris or self.allowed_grant_types & BY_SESSION
        return bool(hears or uses)

    def has_redirect_uri(self, uri: str) -> bool:
        """Return whether this URI is registered; a public client's loopback port may vary (RFC 8252 §7.3)."""
        return is_registered(uri, self.redirect_uris, loopback_port_may_vary=self.is_public)

    def find_start_uri(self, issuer: str) -> str | None:
        """Return the URL that begins a login at the client; None if it has none (OIDC Core §4)."""
        uri = self.initiate_login_uri
        return with_query(uri, {"iss": issuer}) if uri else None

    def under_host(self, host: str) -> Client:
        """Return the client with its host in place of the name, logo and links that it chose for itself."""
        nothing: dict[str, Any] = dict.fromkeys(marked(Mark.SHOWN_TO_USERS))
        return replace(self, **nothing | {"client_name": host})

    @property
    def display_name(self) -> str:
        """The client's name for people."""
        return str(self.client_name or self.client_id)
