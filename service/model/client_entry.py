"""A client by the names of RFC 7591 and OpenID Connect Registration where they have them, as config.yaml lists it."""

from __future__ import annotations

import re
from dataclasses import field
from ipaddress import ip_address
from typing import Annotated, Literal

from service.model import types
from service.model.mfa import RequiredFactor
from service.model.profiles import ProfileName
from service.model.secret import Secret
from service.protocol.authorization_request import RESPONSE_TYPES, parse_response_type
from service.protocol.errors import UnsupportedResponseType


def _response_type(value: str) -> str:
    """Return the response type with its words in the usual order."""
    try:
        return parse_response_type(value).name
    except UnsupportedResponseType as error:
        names = ", ".join(known.name for known in RESPONSE_TYPES)
        raise types.expected(f"one of the response types {names}") from error


def _subject(value: str) -> str:
    from service.model.certificate import parse_subject  # noqa: PLC0415 - X.509, for few clients

    try:
        parse_subject(value)
    except ValueError:
        example = "CN=shop,O=Example (RFC 4514), without spaces after commas"
        raise types.expected(f"a distinguished name such as {example}") from None
    return value


def _ip(value: str) -> str:
    try:
        ip_address(value)
    except ValueError:
        raise types.expected("an IP address") from None
    return value


def _certificate(value: str) -> str:
    from service.model.certificate import der_in_pem  # noqa: PLC0415 - likewise

    if der_in_pem(value) is None and not _THUMBPRINT.fullmatch(value):
        raise types.expected("a certificate in PEM, or x5t#S256: its SHA-256 hash in base64url")
    return value


_THUMBPRINT = re.compile("[A-Za-z0-9_-]{43}")


@types.section
class ProfileOptions(types.Section):
    """The choices that the profile leaves."""

    response: Literal["plain"] | None = None
    """plain: a client of fapi2_message_signing may get authorization responses that are not signed; null: it gets JARM only."""


@types.section
class ClientEntry(types.Section):
    """A client of the service."""

    client_id: types.ClientId
    """The client's identifier (RFC 6749 §2.2)."""
    client_name: types.Texts | None = None
    """The name that users see; null: the client_id."""
    enabled: bool = True
    """false: requests of the client are refused, and its tokens are inactive."""
    template: bool = False
    """true: nobody is this client; it has the settings of the clients that rules of workload_issuers make."""
    profile: ProfileName | None = None
    """The security profile that the client is held to, by its defaults here and for every request: oauth21, fapi2_security,
    fapi2_message_signing or fapi_ciba. Whatever is weaker is an error."""
    profile_options: ProfileOptions | None = None
    """The choices that the profile leaves."""
    client_uri: types.WebUrl | None = None
    """The client's home page, to which its name links."""
    logo_uri: types.WebUrl | None = None
    """The client's logo."""
    policy_uri: types.WebUrl | None = None
    """The client's privacy policy."""
    tos_uri: types.WebUrl | None = None
    """The client's terms of service."""

    client_secrets: types.Many[Secret] = ()
    """Any of these secrets authenticates the client. With two of them a secret can be replaced without an interruption."""
    jwks: dict[str, types.JsonValue] | None = None
    """The client's public keys (JWK set, RFC 7517), for private_key_jwt, signed requests and encryption. Give this or jwks_uri."""
    jwks_uri: types.WebUrl | None = None
    """The URL at which the client publishes its public keys. Give this or jwks."""
    tls_client_auth_subject_dn: Annotated[types.Text, types.AfterValidator(_subject)] | None = None
    """The subject of the client's certificate, such as CN=shop,O=Example (RFC 4514). Only one of the tls_client_auth_… may be
    given (RFC 8705 §2.1.2)."""
    tls_client_auth_san_dns: types.Text | None = None
    """The DNS name in the client's certificate (RFC 8705 §2.1.2)."""
    self_signed_certificates: types.Many[
        Annotated[str, types.Field(max_length=16384), types.AfterValidator(_certificate)]
    ] = ()
    """The client's own certificates (RFC 8705 §2.2). Each is PEM, whose key counts, so that a certificate for the same key is
    accepted too; or x5t#S256, the SHA-256 hash of one certificate. A certificate may also be in x5c of a key in jwks or
    jwks_uri."""
    token_endpoint_auth_method: types.Text | None = None
    """The only method by which the client may authenticate; null: any method for which it has a credential here."""

    allowed_grant_types: types.Several[types.Text] = frozenset({"authorization_code"})
    """The ways in which the client may get tokens: authorization_code, implicit, refresh_token, client_credentials,
    password, urn:ietf:params:oauth:grant-type:device_code, …:token-exchange, …:jwt-bearer,
    urn:openid:params:grant-type:ciba, or the name of an extension grant such as delegation."""
    allowed_response_types: (
        types.Several[Annotated[str, types.AfterValidator(_response_type)]] | None
    ) = None
    """What the authorize endpoint may answer with. null: what the grant types imply (authorization_code: code; implicit:
    id_token, token, id_token token; both: the combinations of these, too)."""
    default_response_mode: types.Text | None = None
    """How answers are sent to redirect_uris; null: query for a code, fragment for an answer with a token. jwt and those
    that end with .jwt send a signed JWT (JARM)."""
    allowed_scopes: types.Several[types.ScopeValue] = frozenset()
    """The scope values that the client may ask for."""
    api_resource: types.Text | None = None
    """The name of the API resource that this client runs; null: the one named like the client, if there is one."""
    allow_offline_access: bool = False
    """true: the client may ask for the scope offline_access, and so gets refresh tokens."""
    allow_insecure_redirect_uris: bool = False
    """true: redirect_uris may use http to a public host."""
    redirect_uris: types.Many[types.Uri] = ()
    """The URIs that answers may be sent to, compared exactly. Only the port of a public client's loopback address may differ (RFC 8252 §7.3), at localhost only where the URI names none."""
    post_logout_redirect_uris: types.Many[types.Uri] = ()
    """The URIs that a user may be sent to after a logout, compared exactly."""
    allowed_cors_origins: types.Many[types.Text] = ()
    """Origins whose pages may call the token, userinfo, revocation, PAR and device authorization endpoints, also those of apps and browser extensions, such as capacitor://localhost; the origins of redirect_uris may do so without being listed."""

    require_pkce: bool = True
    """true: the client must use PKCE (RFC 7636), which protects codes from theft."""
    allow_plain_text_pkce: bool = False
    """true: the PKCE challenge may be the verifier itself (plain), not only its hash (S256)."""
    require_client_secret: bool = True
    """false: a public client, such as an app in a browser or on a phone, which cannot keep a secret."""
    require_pushed_authorization_requests: bool = False
    """true: the client must push its authorization requests first (PAR, RFC 9126)."""
    pushed_authorization_lifetime: types.Lifetime = 60
    """How long a pushed authorization request may be taken to the authorize endpoint."""
    require_signed_request_object: bool = False
    """true: the client must sign its authorization requests (RFC 9101)."""
    dpop_bound_access_tokens: bool = False
    """true: tokens are bound to a key of the client by DPoP (RFC 9449)."""
    dpop_nonce_required: bool = False
    """true: the client's DPoP proofs need a nonce of this service, also where `dpop.nonce` is `never`."""
    tls_client_certificate_bound_access_tokens: bool = False
    """true: tokens are bound to the client's certificate (RFC 8705)."""
    allow_access_tokens_via_browser: bool = True
    """false: the authorize endpoint never sends the client an access token through the browser."""
    require_consent: bool = False
    """true: the user is asked for consent before the client gets access."""
    allow_remember_consent: bool = True
    """true: the user may choose that the consent is remembered."""
    consent_lifetime: types.Lifetime | None = None
    """How long a consent is remembered; null: for a year after it was last used."""
    user_sso_lifetime: types.Duration | None = None
    """A user whose sign-in is older than this must sign in again; null: never for that reason."""
    mfa_required: RequiredFactor | None = None
    """Who needs a second factor to sign in at this client: never, enrolled or always; null: what `mfa.required` says."""
    required_acr: types.Text | None = None
    """The authentication context (acr) that a sign-in for this client must meet, whatever the client asks for; null: none."""
    enable_local_login: bool = True
    """false: users of this client sign in at an identity provider, not with a password here."""
    identity_provider_restrictions: types.Many[types.Text] = ()
    """The identity providers whose users may use the client; empty: all."""
    allowed_users: types.Many[types.Condition] = ()
    """The users with permission to use the client, by their present claims and `sub`: a list of conditions, one of which has to hold, such as
    [{groups: [staff]}, {sub: ["1"]}]. In a condition, each claim has to have one of its values. Empty: all users."""
    tenants: types.Several[types.Text] = frozenset()
    """The tenants whose users may use the client; empty: the users of all tenants, and those of none."""

    access_token_type: Literal["jwt", "reference"] = "jwt"
    """jwt: a signed token that APIs can read (RFC 9068); reference: a random string that APIs ask this service about."""
    access_token_lifetime: types.Lifetime = 3600
    """How long an access token is active."""
    identity_token_lifetime: types.Lifetime = 300
    """How long an ID token is valid."""
    authorization_code_lifetime: types.Lifetime = 60
    """How long a code may be redeemed."""
    device_code_lifetime: types.Lifetime = 600
    """How long a device code may be used."""
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

    claims: dict[str, types.JsonValue] = field(default_factory=dict)
    """Claims that are added to this client's access tokens."""
    client_claims_prefix: str = "client_"
    """The prefix of the names of those claims in the token."""
    always_send_client_claims: bool = False
    """true: these claims are also in access tokens for a user, not only in those for the client itself."""
    always_include_user_claims_in_id_token: bool = False
    """true: ID tokens have the user's claims, even if the client could ask userinfo for them."""
    id_token_signed_response_alg: types.RegisteredAlgorithm | None = None
    """The algorithm that signs ID tokens; null: the first of signing.algorithms."""
    id_token_encrypted_response_alg: types.KeyManagementAlgorithm | None = None
    """The algorithm that encrypts the content key of ID tokens; null: they are not encrypted."""
    id_token_encrypted_response_enc: types.ContentEncryption | None = None
    """The algorithm that encrypts the content of ID tokens."""
    userinfo_signed_response_alg: types.RegisteredAlgorithm | None = None
    """The algorithm that signs userinfo responses as JWTs; null: they are plain JSON."""
    request_object_signing_alg: types.RegisteredAlgorithm | Literal["none"] | None = None
    """The only algorithm for signing the client's request objects, none if they are unsigned; null: any signature."""
    authorization_signed_response_alg: types.SigningAlgorithm | None = None
    """The algorithm that signs authorization responses whose response mode is jwt or ends with .jwt (JARM §3); null: the first of signing.algorithms."""
    introspection_signed_response_alg: types.SigningAlgorithm | None = None
    """The algorithm that signs introspection responses (RFC 9701 §6)."""
    subject_type: Literal["public", "pairwise"] = "public"
    """public: all clients see the same `sub` for a user; pairwise: clients of different sectors see different ones (OIDC Core §8.1), which needs pairwise_salt."""
    sector_identifier_uri: types.WebUrl | None = None
    """The URL whose host is the client's sector, and which lists all redirect URIs of the sector (OIDC Core §8.1)."""
    default_max_age: types.Duration | None = None
    """The max_age of requests that have none: a user who signed in longer ago must sign in again."""
    frontchannel_logout_uri: types.WebUrl | None = None
    """A page of the client that is loaded in the browser when the user logs out (OpenID Connect Front-Channel Logout §2)."""
    frontchannel_logout_session_required: bool = True
    """true: the page gets iss and sid, which name the session."""
    backchannel_logout_uri: types.WebUrl | None = None
    """The URL that this service calls when the user's session ends (OpenID Connect Back-Channel Logout §2.2)."""
    backchannel_logout_session_required: bool = True
    """true: the call names the session by sid."""
    properties: dict[str, types.JsonValue] = field(default_factory=dict)
    """Anything you like; extension grants and templates can read it."""
    application_type: Literal["web", "native"] | None = None
    """web: runs on a server or in a browser; native: is installed on a device (OpenID Connect Registration §2)."""
    contacts: types.Many[types.Text] | None = None
    """Addresses of the people who are responsible for the client (RFC 7591 §2)."""
    software_id: types.Text | None = None
    """An identifier of the software, the same for all its installations (RFC 7591 §2)."""
    software_version: types.Text | None = None
    """The version of the software (RFC 7591 §2)."""
    initiate_login_uri: types.WebUrl | None = None
    """The URL at which another site can start a login to the client (OIDC Core §4)."""
    request_uris: types.Many[types.WebUrl] | None = None
    """URLs from which the client's request objects may be fetched (OIDC Core §6.2)."""
    default_acr_values: types.Many[types.Text] | None = None
    """The acr_values of requests that have none (OpenID Connect Registration §2)."""
    require_auth_time: bool | None = None
    """true: ID tokens always have auth_time (OpenID Connect Registration §2)."""
    token_endpoint_auth_signing_alg: types.RegisteredAlgorithm | None = None
    """The only algorithm for signing client assertions (OpenID Connect Registration §2)."""
    userinfo_encrypted_response_alg: types.KeyManagementAlgorithm | None = None
    """The algorithm that encrypts the content key of userinfo responses; null: they are not encrypted."""
    userinfo_encrypted_response_enc: types.ContentEncryption | None = None
    """The algorithm that encrypts the content of userinfo responses."""
    request_object_encryption_alg: types.KeyManagementAlgorithm | None = None
    """The algorithm by which the client encrypts the content key of request objects."""
    request_object_encryption_enc: types.ContentEncryption | None = None
    """The algorithm by which the client encrypts the content of request objects."""
    authorization_encrypted_response_alg: types.KeyManagementAlgorithm | None = None
    """The algorithm that encrypts the content key of those authorization responses (JARM §3); null: they are not encrypted."""
    authorization_encrypted_response_enc: types.ContentEncryption | None = None
    """The algorithm that encrypts the content of authorization responses (JARM §3); null: A128CBC-HS256."""
    introspection_encrypted_response_alg: types.KeyManagementAlgorithm | None = None
    """The algorithm that encrypts the content key of introspection responses (RFC 9701 §6); null: they are not encrypted."""
    introspection_encrypted_response_enc: types.ContentEncryption | None = None
    """The algorithm that encrypts the content of introspection responses (RFC 9701 §6); null: A128CBC-HS256."""
    tls_client_auth_san_uri: types.Text | None = None
    """The URI in the client's certificate (RFC 8705 §2.1.2)."""
    tls_client_auth_san_ip: Annotated[types.Text, types.AfterValidator(_ip)] | None = None
    """The IP address in the client's certificate (RFC 8705 §2.1.2)."""
    tls_client_auth_san_email: types.Text | None = None
    """The mail address in the client's certificate (RFC 8705 §2.1.2)."""
    authorization_details_types: types.Many[types.Text] | None = None
    """The types of authorization_details that the client may use (RFC 9396 §10)."""
    backchannel_token_delivery_mode: Literal["poll", "ping", "push"] | None = None
    """How the client learns that a CIBA request has been answered (CIBA §4)."""
    backchannel_client_notification_endpoint: types.WebUrl | None = None
    """The URL at which the client is notified of that (CIBA §4)."""
    backchannel_authentication_request_signing_alg: types.SigningAlgorithm | None = None
    """The algorithm for signing CIBA requests (CIBA §4)."""
    backchannel_user_code_parameter: bool | None = None
    """true: CIBA requests have a user code (CIBA §4)."""

    @property
    def has_keys(self) -> bool:
        """Whether there are public keys of the client, or may be at its URL."""
        return self.jwks_uri is not None or bool(self.jwks and self.jwks.get("keys"))
