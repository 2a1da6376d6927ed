"""The keys of a client, as the one table; the names are those of RFC 7591 and OpenID Connect Registration where they have them.

To add a key: a field with its documentation, in its group. The marks around its type say where a client may give it; the lists of names,
docs/configuration.md and docs/reference/client-metadata.md follow from them.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Annotated, Literal, TypeVar

import msgspec

from service.model import types
from service.model.authentication_context import RequiredFactor
from service.model.client_values import (
    Certificate,
    CertificateSubject,
    IpAddress,
    ResponseType,
    UserClaims,
)
from service.model.profiles import FAPI, FAPI2_ALGORITHMS, ProfileName, ProfileOptions
from service.model.secret import Secret

T = TypeVar("T")


class Mark(Enum):
    """The properties of a key besides its type; those without a place in the table follow from types and names."""

    REGISTRABLE = "a client may register it (RFC 7591 §2)"
    IN_DOCUMENT = "it counts in a client's metadata document, too"
    SHOWN_TO_USERS = "users see it, in their language (OpenID Connect Registration §2.1)"
    HTTPS_ONLY = "clients register it with https, also on loopback"
    URL = "it is a URL, or a list of them"
    SIGNATURE = "it names a signature algorithm"
    HMAC = "it may name an HMAC by the client's secret (OIDC Core §10.1)"
    SIGNED_RESPONSE = "it names the algorithm by which the service signs something for the client"
    ENCRYPTION = "it names the algorithm that encrypts a content key (OIDC Core §10.2)"
    CONTENT_ENCRYPTION = "it names the algorithm that encrypts content"


class RegisteredAs(msgspec.Struct, frozen=True):
    """Marks a key whose registered name is another one."""

    name: str


Registrable = Annotated[T, Mark.REGISTRABLE]
InDocument = Annotated[T, Mark.REGISTRABLE, Mark.IN_DOCUMENT]
"""`logo_uri` has not this mark: anybody could show any picture, and learn from the user's browser who sees it
(draft-ietf-oauth-client-id-metadata-document-02 §8.8, §9.2)."""
SHOWN_TO_USERS, HTTPS_ONLY = Mark.SHOWN_TO_USERS, Mark.HTTPS_ONLY


class ClientEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A client of the service."""

    # -- The client --
    client_id: types.ClientId
    """The client's identifier (RFC 6749 §2.2)."""
    enabled: bool = True
    """false: requests of the client are refused, and its tokens are inactive."""
    template: bool = False
    """true: nobody is this client; it has the settings of the clients that rules of workload_issuers make."""
    profile: ProfileName | None = None
    """The security profile that the client is held to, by its defaults here and for every request: oauth21, fapi2_security,
    fapi2_message_signing or fapi_ciba. Whatever is weaker is an error."""
    profile_options: ProfileOptions | None = None
    """The choices that the profile leaves."""
    application_type: InDocument[Literal["web", "native"] | None] = None
    """web: runs on a server or in a browser; native: is installed on a device (OpenID Connect Registration §2)."""
    software_id: InDocument[types.Text | None] = None
    """An identifier of the software, the same for all its installations (RFC 7591 §2)."""
    software_version: InDocument[types.Text | None] = None
    """The version of the software (RFC 7591 §2)."""
    contacts: InDocument[tuple[types.Text, ...] | None] = None
    """Addresses of the people who are responsible for the client (RFC 7591 §2)."""
    properties: dict[str, object] = msgspec.field(default_factory=dict)
    """Anything you like; extension grants and templates can read it."""

    # -- Name and links --
    client_name: Annotated[InDocument[types.Texts | None], SHOWN_TO_USERS] = None
    """The name that users see; null: the client_id."""
    client_uri: Annotated[InDocument[types.WebUrl | None], SHOWN_TO_USERS] = None
    """The client's home page, to which its name links."""
    logo_uri: Annotated[Registrable[types.WebUrl | None], SHOWN_TO_USERS] = None
    """The client's logo."""
    policy_uri: Annotated[InDocument[types.WebUrl | None], SHOWN_TO_USERS] = None
    """The client's privacy policy."""
    tos_uri: Annotated[InDocument[types.WebUrl | None], SHOWN_TO_USERS] = None
    """The client's terms of service."""

    # -- Credentials and keys --
    require_client_secret: bool = True
    """false: a public client, such as an app in a browser or on a phone, which cannot keep a secret."""
    token_endpoint_auth_method: InDocument[types.Text | None] = None
    """The only method by which the client may authenticate; null: any method for which it has a credential here."""
    token_endpoint_auth_signing_alg: InDocument[types.RegisteredAlgorithm | None] = None
    """The only algorithm for signing client assertions (OpenID Connect Registration §2)."""
    client_secrets: tuple[Secret, ...] = ()
    """Any of these secrets authenticates the client. With two of them a secret can be replaced without an interruption."""
    jwks: InDocument[dict[str, object] | None] = None
    """The client's public keys (JWK set, RFC 7517), for private_key_jwt, signed requests and encryption. Give this or jwks_uri."""
    jwks_uri: InDocument[types.WebUrl | None] = None
    """The URL at which the client publishes its public keys. Give this or jwks."""
    tls_client_auth_subject_dn: Registrable[CertificateSubject | None] = None
    """The subject of the client's certificate, such as CN=shop,O=Example (RFC 4514). Only one of the tls_client_auth_… may be
    given (RFC 8705 §2.1.2)."""
    tls_client_auth_san_dns: Registrable[types.Text | None] = None
    """The DNS name in the client's certificate (RFC 8705 §2.1.2)."""
    tls_client_auth_san_uri: Registrable[types.Text | None] = None
    """The URI in the client's certificate (RFC 8705 §2.1.2)."""
    tls_client_auth_san_ip: Registrable[IpAddress | None] = None
    """The IP address in the client's certificate (RFC 8705 §2.1.2)."""
    tls_client_auth_san_email: Registrable[types.Text | None] = None
    """The mail address in the client's certificate (RFC 8705 §2.1.2)."""
    self_signed_certificates: tuple[Certificate, ...] = ()
    """The client's own certificates (RFC 8705 §2.2). Each is PEM, whose key counts, so that a certificate for the same key is
    accepted too; or x5t#S256, the SHA-256 hash of one certificate. A certificate may also be in x5c of a key in jwks or
    jwks_uri."""

    # -- Grant types, scope and APIs --
    allowed_grant_types: Annotated[
        InDocument[frozenset[types.Text]], RegisteredAs("grant_types")
    ] = frozenset({"authorization_code"})
    """The ways in which the client may get tokens: authorization_code, implicit, refresh_token, client_credentials,
    password, urn:ietf:params:oauth:grant-type:device_code, …:token-exchange, …:jwt-bearer,
    urn:openid:params:grant-type:ciba, or the name of an extension grant such as delegation."""
    allowed_response_types: Annotated[
        InDocument[frozenset[ResponseType] | None], RegisteredAs("response_types")
    ] = None
    """The response types of the authorize endpoint for the client. null: those that the grant types imply (authorization_code: code; implicit:
    id_token, token, id_token token; both: the combinations of these, too)."""
    allowed_scopes: frozenset[types.ScopeValue] = frozenset()
    """The scope values that the client may ask for."""
    allow_offline_access: bool = False
    """true: the client may ask for the scope offline_access, and so gets refresh tokens."""
    refresh_without_offline_access: bool = False
    """true: a sign-in of a user brings a refresh token also without the scope offline_access, as applications of Keycloak expect. It
    ends with the user's session, and its use counts as a use of the session. It looks like a JWT to libraries that decode it."""
    authorization_details_types: Registrable[tuple[types.Text, ...] | None] = None
    """The types of authorization_details that the client may use (RFC 9396 §10)."""
    api_resource: types.Text | None = None
    """The name of the API resource that this client runs; null: the one named like the client, if there is one."""

    added_scopes: frozenset[types.ScopeValue] = frozenset()
    """Scope values of APIs, among allowed_scopes, that a sign-in and client_credentials get also where the client asks for other ones only,
    as default client scopes of Keycloak are."""
    may_revoke_subjects: bool = False
    """true: the client, which cannot be a public one, may end all that a user has here: sessions, grants and tokens, by
    POST /connect/global-token-revocation. With `tenants` only users of these."""

    # -- Redirect URIs and origins --
    redirect_uris: InDocument[tuple[types.Uri, ...]] = ()
    """The URIs that answers may be sent to, compared exactly. Only the port of a public client's loopback address may differ (RFC 8252 §7.3), at localhost only where the URI names none."""
    allow_insecure_redirect_uris: bool = False
    """true: redirect_uris may use http to a public host."""
    post_logout_redirect_uris: InDocument[tuple[types.Uri, ...]] = ()
    """The URIs that a user may be sent to after a logout, compared exactly."""
    allowed_cors_origins: tuple[types.Text, ...] = ()
    """Origins whose pages may call the token, userinfo, revocation, PAR and device authorization endpoints, also those of apps and browser extensions, such as capacitor://localhost; the origins of redirect_uris may do so without being listed."""

    # -- Authorization requests and responses --
    require_pkce: bool = True
    """true: the client must use PKCE (RFC 7636), which protects codes from theft."""
    allow_plain_text_pkce: bool = False
    """true: the PKCE challenge may be the verifier itself (plain), not only its hash (S256)."""
    require_pushed_authorization_requests: InDocument[bool] = False
    """true: the client must push its authorization requests first (PAR, RFC 9126)."""
    pushed_authorization_lifetime: types.Lifetime = 60
    """How long a pushed authorization request may be taken to the authorize endpoint."""
    require_signed_request_object: Registrable[bool] = False
    """true: the client must sign its authorization requests (RFC 9101)."""
    request_object_signing_alg: Registrable[types.RegisteredAlgorithm | Literal["none"] | None] = (
        None
    )
    """The only algorithm for signing the client's request objects, none if they are unsigned; null: any signature."""
    request_object_encryption_alg: Registrable[types.KeyManagementAlgorithm | None] = None
    """The algorithm by which the client encrypts the content key of request objects."""
    request_object_encryption_enc: Registrable[types.ContentEncryption | None] = None
    """The algorithm by which the client encrypts the content of request objects."""
    request_uris: Annotated[Registrable[tuple[types.WebUrl, ...] | None], HTTPS_ONLY] = None
    """URLs from which the client's request objects may be fetched (OIDC Core §6.2)."""
    default_response_mode: types.Text | None = None
    """How answers are sent to redirect_uris; null: query for a code, fragment for an answer with a token. jwt and those
    that end with .jwt send a signed JWT (JARM)."""
    allow_access_tokens_via_browser: bool = True
    """false: the authorize endpoint never sends the client an access token through the browser."""
    authorization_signed_response_alg: Registrable[types.SigningAlgorithm | None] = None
    """The algorithm that signs authorization responses whose response mode is jwt or ends with .jwt (JARM §3); null: the first of signing.algorithms."""
    authorization_encrypted_response_alg: Registrable[types.KeyManagementAlgorithm | None] = None
    """The algorithm that encrypts the content key of those authorization responses (JARM §3); null: they are not encrypted."""
    authorization_encrypted_response_enc: Registrable[types.ContentEncryption | None] = None
    """The algorithm that encrypts the content of authorization responses (JARM §3); null: A128CBC-HS256."""

    # -- Users, login and consent --
    enable_local_login: bool = True
    """false: users of this client sign in at an identity provider, not with a password here."""
    identity_provider_restrictions: tuple[types.Text, ...] = ()
    """The identity providers whose users may use the client; empty: all."""
    allowed_users: tuple[types.Condition, ...] = ()
    """The users with permission to use the client, by their present claims and `sub`: a list of conditions, one of which has to hold, such as
    [{groups: [staff]}, {sub: ["1"]}]. In a condition, each claim has to have one of its values. Empty: all users."""
    tenants: frozenset[types.Text] = frozenset()
    """The tenants whose users may use the client; empty: the users of all tenants, and those of none."""
    mfa_required: RequiredFactor | None = None
    """Who needs a second factor to sign in at this client: never, enrolled or always; null: what `mfa.required` says."""
    required_acr: types.Text | None = None
    """The authentication context (acr) that a sign-in for this client must meet, whatever the client asks for; null: none."""
    default_acr_values: Registrable[tuple[types.Text, ...] | None] = None
    """The acr_values of requests that have none (OpenID Connect Registration §2)."""
    default_max_age: InDocument[types.Duration | None] = None
    """The max_age of requests that have none: a user who signed in longer ago must sign in again."""
    user_sso_lifetime: types.Duration | None = None
    """A user whose sign-in is older than this must sign in again; null: never for that reason."""
    initiate_login_uri: Annotated[InDocument[types.WebUrl | None], HTTPS_ONLY] = None
    """The URL at which another site can start a login to the client (OIDC Core §4)."""
    require_consent: bool = False
    """true: the user is asked for consent before the client gets access."""
    allow_remember_consent: bool = True
    """true: the user may choose that the consent is remembered."""
    consent_lifetime: types.Lifetime | None = None
    """How long a consent is remembered; null: for a year after it was last used."""

    # -- Tokens --
    access_token_type: Literal["jwt", "reference"] = "jwt"
    """jwt: a signed token that APIs can read (RFC 9068); reference: a random string that APIs ask this service about."""
    access_token_typ: Literal["at+jwt", "JWT"] = "at+jwt"
    """The type in the header of a JWT access token. at+jwt is that of RFC 9068. JWT is for APIs whose library accepts no other, as the
    usual decoders of Spring Security do; then the claim typ is Bearer, which no ID token has, and azp is the client_id."""
    access_token_lifetime: types.Lifetime = 3600
    """How long an access token is active."""
    identity_token_lifetime: types.Lifetime = 300
    """How long an ID token is valid."""
    authorization_code_lifetime: types.Lifetime = 60
    """How long a code may be redeemed."""
    device_code_lifetime: types.Lifetime = 600
    """How long a device code may be used."""
    dpop_bound_access_tokens: InDocument[bool] = False
    """true: tokens are bound to a key of the client by DPoP (RFC 9449)."""
    dpop_nonce_required: bool = False
    """true: the client's DPoP proofs need a nonce of this service, also where `dpop.nonce` is `never`."""
    tls_client_certificate_bound_access_tokens: Registrable[bool] = False
    """true: tokens are bound to the client's certificate (RFC 8705)."""
    refresh_token_usage: Literal["one_time", "reuse"] = "one_time"
    """one_time: each use returns a new refresh token; reuse: the same token can be used until it expires."""
    refresh_token_reuse_interval: types.Duration = 0
    """For this long, a repeated use of a one_time token returns the same new token, for clients that lost the response."""
    refresh_token_expiration: Literal["absolute", "sliding"] = "absolute"
    """absolute: refresh tokens expire at a fixed time after the sign-in; sliding: each use extends that, up to the absolute lifetime."""
    absolute_refresh_token_lifetime: types.Lifetime = 30 * 86400
    """How long after the sign-in the last refresh token expires."""
    sliding_refresh_token_lifetime: types.Lifetime = 15 * 86400
    """With expiration sliding: how long a refresh token is valid without being used."""
    token_expiration_members: bool = False
    """true: token responses with a refresh token say when it expires, as `token_expiration_members` does for all clients."""
    update_access_token_claims_on_refresh: bool = False
    """true: a new access token has the user's present claims, not those of the sign-in."""

    # -- Claims --
    claims: dict[str, object] = msgspec.field(default_factory=dict)
    """Claims that are added to this client's access tokens."""
    client_claims_prefix: str = "client_"
    """The prefix of the names of those claims in the token."""
    always_send_client_claims: bool = False
    """true: these claims are also in access tokens for a user, not only in those for the client itself."""
    user_claims: UserClaims | None = None
    """Claims of users that this client gets in addition, whatever scope it asks for; null: none."""
    always_include_user_claims_in_id_token: bool = False
    """true: ID tokens have the user's claims, even if the client could ask userinfo for them."""
    require_auth_time: InDocument[bool | None] = None
    """true: ID tokens always have auth_time (OpenID Connect Registration §2)."""
    subject_type: Registrable[Literal["public", "pairwise"]] = "public"
    """public: all clients see the same `sub` for a user; pairwise: clients of different sectors see different ones (OIDC Core §8.1), which needs pairwise_salt."""
    sector_identifier_uri: Annotated[Registrable[types.WebUrl | None], HTTPS_ONLY] = None
    """The URL whose host is the client's sector, and which lists all redirect URIs of the sector (OIDC Core §8.1)."""

    # -- Signed and encrypted answers --
    id_token_signed_response_alg: InDocument[types.RegisteredAlgorithm | None] = None
    """The algorithm that signs ID tokens; null: the first of signing.algorithms."""
    id_token_encrypted_response_alg: Registrable[types.KeyManagementAlgorithm | None] = None
    """The algorithm that encrypts the content key of ID tokens; null: they are not encrypted."""
    id_token_encrypted_response_enc: Registrable[types.ContentEncryption | None] = None
    """The algorithm that encrypts the content of ID tokens."""
    userinfo_signed_response_alg: Registrable[types.RegisteredAlgorithm | None] = None
    """The algorithm that signs userinfo responses as JWTs; null: they are plain JSON."""
    userinfo_encrypted_response_alg: Registrable[types.KeyManagementAlgorithm | None] = None
    """The algorithm that encrypts the content key of userinfo responses; null: they are not encrypted."""
    userinfo_encrypted_response_enc: Registrable[types.ContentEncryption | None] = None
    """The algorithm that encrypts the content of userinfo responses."""
    introspection_signed_response_alg: Registrable[types.SigningAlgorithm | None] = None
    """The algorithm that signs introspection responses (RFC 9701 §6)."""
    introspection_encrypted_response_alg: Registrable[types.KeyManagementAlgorithm | None] = None
    """The algorithm that encrypts the content key of introspection responses (RFC 9701 §6); null: they are not encrypted."""
    introspection_encrypted_response_enc: Registrable[types.ContentEncryption | None] = None
    """The algorithm that encrypts the content of introspection responses (RFC 9701 §6); null: A128CBC-HS256."""

    # -- Logout --
    frontchannel_logout_uri: Registrable[types.WebUrl | None] = None
    """A page of the client that is loaded in the browser when the user logs out (OpenID Connect Front-Channel Logout §2)."""
    frontchannel_logout_session_required: Registrable[bool] = True
    """true: the page gets iss and sid, which name the session."""
    backchannel_logout_uri: Registrable[types.WebUrl | None] = None
    """The URL that this service calls when the user's session ends (OpenID Connect Back-Channel Logout §2.2)."""
    backchannel_logout_session_required: Registrable[bool] = True
    """true: each call names the session by sid. false: the client also gets calls that name the user alone, where all access of a
    user ends and grants of it came from no session."""

    # -- CIBA --
    backchannel_token_delivery_mode: Registrable[Literal["poll", "ping", "push"] | None] = None
    """How the client learns that a CIBA request has been answered (CIBA §4)."""
    backchannel_client_notification_endpoint: Annotated[
        Registrable[types.WebUrl | None], HTTPS_ONLY
    ] = None
    """The URL at which the client is notified of that (CIBA §4)."""
    backchannel_authentication_request_signing_alg: Registrable[types.SigningAlgorithm | None] = (
        None
    )
    """The algorithm for signing CIBA requests (CIBA §4)."""
    backchannel_user_code_parameter: Registrable[bool | None] = None
    """true: CIBA requests have a user code (CIBA §4)."""

    @property
    def has_keys(self) -> bool:
        """Whether there are public keys of the client, or may be at its URL."""
        return self.jwks_uri is not None or bool(self.jwks and self.jwks.get("keys"))

    @property
    def follows_fapi(self) -> bool:
        """Whether it is held to a profile of FAPI, whatever it is about."""
        return self.profile in FAPI

    def accepted_algorithms(
        self, algorithms: Collection[str], *, registered: str | None = None
    ) -> Collection[str]:
        """Return those of the signature algorithms that its profile allows, and of these the registered one alone (FAPI 2.0 Security Profile §5.4.1)."""
        allowed = FAPI2_ALGORITHMS.intersection(algorithms) if self.follows_fapi else algorithms
        return allowed if registered is None else {registered}.intersection(allowed)
