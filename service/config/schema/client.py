"""A client of the service, by the names of RFC 7591 where it has them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from service.config.schema.client_metadata import ClientMetadata
from service.config.schema.resources import SecretEntry
from service.config.schema.types import (
    ClientId,
    ContentEncryption,
    Duration,
    KeyManagementAlgorithm,
    Lifetime,
    Many,
    RegisteredAlgorithm,
    ScopeValue,
    Several,
    SigningAlgorithm,
    Text,
    Texts,
    WebUrl,
    expected,
)
from service.protocol.errors import UnsupportedResponseType
from service.protocol.response_type import RESPONSE_TYPES, parse_response_type


def _response_type(value: str) -> str:
    """The response type with its words in the usual order."""
    try:
        return parse_response_type(value).name
    except UnsupportedResponseType as error:
        names = ", ".join(known.name for known in RESPONSE_TYPES)
        raise expected(f"one of the response types {names}") from error


class ClientEntry(ClientMetadata):
    """A client of the service."""

    client_id: ClientId
    """The client's identifier (RFC 6749 §2.2)."""
    client_name: Texts | None = None
    """What a person is shown; null: the client_id."""
    enabled: bool = True
    """A disabled client is unknown, and its tokens are inactive."""
    client_uri: WebUrl | None = None
    """The client's home page."""
    logo_uri: WebUrl | None = None
    """The client's picture."""
    policy_uri: WebUrl | None = None
    """The client's privacy policy."""
    tos_uri: WebUrl | None = None
    """The client's terms of service."""

    client_secrets: Many[SecretEntry] = ()
    """Any of them authenticates the client; several let one be replaced without a break."""
    jwks: dict[str, JsonValue] | None = None
    """The client's public keys, for private_key_jwt, request objects and encryption; or jwks_uri."""
    jwks_uri: WebUrl | None = None
    """Where the client publishes its keys; or jwks."""
    tls_client_auth_subject_dn: Text | None = None
    """The subject of the client's certificate (RFC 8705 §2.1.2)."""
    tls_client_auth_san_dns: Text | None = None
    """The DNS name in the client's certificate (RFC 8705 §2.1.2)."""
    self_signed_certificates: Many[Text] = ()
    """The client's own certificates, PEM or x5t#S256 (RFC 8705 §2.2)."""
    token_endpoint_auth_method: Text | None = None
    """null: whichever registered credential the request presents; else exactly this one."""

    allowed_grant_types: Several[Text] = frozenset({"authorization_code"})
    """authorization_code, implicit, refresh_token, client_credentials, password,
    urn:ietf:params:oauth:grant-type:device_code, …:token-exchange, …:jwt-bearer, urn:openid:params:grant-type:ciba, and
    any extension grant's own string such as delegation."""
    allowed_response_types: Several[Annotated[str, AfterValidator(_response_type)]] | None = None
    """null: what the grant types imply (authorization_code: code; implicit: id_token, token, id_token token; both: the
    hybrid ones too)."""
    default_response_mode: Text | None = None
    """null: query for a code, fragment for what carries a token."""
    allowed_scopes: Several[ScopeValue] = frozenset()
    """The scope values that the client may have."""
    api_resource: Text | None = None
    """The API resource that this client is; null: the one of the same name, if there is one."""
    allow_offline_access: bool = False
    """Whether the client may ask for offline_access, and so for refresh tokens."""
    allow_insecure_redirect_uris: bool = False
    """Whether redirect_uris may be http to a public host."""
    redirect_uris: Many[Annotated[str, Field(min_length=1, max_length=2048)]] = ()
    """Where answers go; compared exactly. A public client's loopback IP redirect may vary its port (RFC 8252 §7.3)."""
    post_logout_redirect_uris: Many[Annotated[str, Field(min_length=1, max_length=2048)]] = ()
    """Where a logout may lead; compared exactly."""
    allowed_cors_origins: Many[Text] = ()
    """Origins whose pages may call the token, userinfo and revocation endpoints; those of redirect_uris may anyway."""

    require_pkce: bool = True
    """Whether a code needs a challenge (RFC 7636)."""
    allow_plain_text_pkce: bool = False
    """Whether the challenge may be the verifier itself."""
    require_client_secret: bool = True
    """false: a public client."""
    require_pushed_authorization_requests: bool = False
    """Whether authorization requests must be pushed (RFC 9126)."""
    require_signed_request_object: bool = False
    """Whether authorization requests must be signed (RFC 9101)."""
    dpop_bound_access_tokens: bool = False
    """Whether tokens are bound to a key by DPoP (RFC 9449)."""
    tls_client_certificate_bound_access_tokens: bool = False
    """Whether tokens are bound to the client's certificate (RFC 8705)."""
    allow_access_tokens_via_browser: bool = True
    """Whether the authorize endpoint may answer with access tokens."""
    require_consent: bool = False
    """Whether the person is asked."""
    allow_remember_consent: bool = True
    """Whether the person may have the answer remembered."""
    consent_lifetime: Lifetime | None = None
    """How long it is remembered; null: a year, renewed when used."""
    user_sso_lifetime: Duration | None = None
    """The login of an older session is asked again."""
    enable_local_login: bool = True
    """Whether a local password will do."""
    identity_provider_restrictions: Many[Text] = ()
    """The identity providers whose users may come; empty: all."""

    access_token_type: Literal["jwt", "reference"] = "jwt"
    """jwt (RFC 9068), or reference: an opaque handle to introspect."""
    access_token_lifetime: Lifetime = 3600
    """How long an access token is active."""
    identity_token_lifetime: Lifetime = 300
    """How long an identity token is valid."""
    authorization_code_lifetime: Lifetime = 60
    """How long a code may be redeemed."""
    device_code_lifetime: Lifetime = 600
    """How long a device code may be used."""
    refresh_token_usage: Literal["one_time", "reuse"] = "one_time"
    """one_time: every use gives a successor; reuse: the same token again and again."""
    refresh_token_reuse_interval: Duration = 0
    """A client that lost the response may repeat within it and gets the same successor."""
    refresh_token_expiration: Literal["absolute", "sliding"] = "absolute"
    """absolute: the end is fixed at the first; sliding: each use moves it, up to the absolute lifetime."""
    absolute_refresh_token_lifetime: Lifetime = 30 * 86400
    """The end of all refresh tokens of one authorization."""
    sliding_refresh_token_lifetime: Lifetime = 15 * 86400
    """How long an unused refresh token lives where expiration is sliding."""
    update_access_token_claims_on_refresh: bool = False
    """Whether a refresh reads the user's claims anew."""

    claims: dict[str, JsonValue] = Field(default_factory=dict)
    """Put into this client's access tokens."""
    client_claims_prefix: str = "client_"
    """What those claims' names begin with in the token."""
    always_send_client_claims: bool = False
    """Also when a user is involved."""
    always_include_user_claims_in_id_token: bool = False
    """Identity tokens carry the user's claims even where userinfo would."""
    id_token_signed_response_alg: RegisteredAlgorithm | None = None
    """null: the first of signing.algorithms."""
    id_token_encrypted_response_alg: KeyManagementAlgorithm | None = None
    """How the key of encrypted identity tokens is wrapped."""
    id_token_encrypted_response_enc: ContentEncryption | None = None
    """How identity tokens are encrypted."""
    userinfo_signed_response_alg: RegisteredAlgorithm | None = None
    """Userinfo answers with a JWT signed so."""
    request_object_signing_alg: RegisteredAlgorithm | Literal["none"] | None = None
    """The one algorithm of the client's request objects, none for unsigned ones; null: any that is signed."""
    authorization_signed_response_alg: SigningAlgorithm | None = None
    """The algorithm of authorization responses (JARM §3)."""
    introspection_signed_response_alg: SigningAlgorithm | None = None
    """The algorithm of introspection answers (RFC 9701 §6)."""
    subject_type: Literal["public", "pairwise"] = "public"
    """pairwise: another subject identifier for each sector (OIDC Core §8.1); needs pairwise_salt."""
    sector_identifier_uri: WebUrl | None = None
    """The sector of the client (OIDC Core §8.1)."""
    default_max_age: Duration | None = None
    """max_age where a request has none."""
    frontchannel_logout_uri: WebUrl | None = None
    """Called in a frame when the session ends (OpenID Connect Front-Channel Logout §2)."""
    frontchannel_logout_session_required: bool = True
    """Whether iss and sid are sent there."""
    backchannel_logout_uri: WebUrl | None = None
    """Called by the service when the session ends (OpenID Connect Back-Channel Logout §2.2)."""
    backchannel_logout_session_required: bool = True
    """Whether sid is sent there."""
    properties: dict[str, JsonValue] = Field(default_factory=dict)
    """Free; handed to extension grants and templates."""
