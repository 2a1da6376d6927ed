"""Client metadata of RFC 7591 and OpenID registration that keeps its registered name and meaning."""

from __future__ import annotations

from typing import Literal

from service.config.schema.section import Section
from service.config.schema.types import (
    ContentEncryption,
    KeyManagementAlgorithm,
    Many,
    RegisteredAlgorithm,
    SigningAlgorithm,
    Text,
    WebUrl,
)


class ClientMetadata(Section):
    """Client metadata of RFC 7591 and OpenID registration that keeps its registered name and meaning."""

    application_type: Literal["web", "native"] | None = None
    """web or native (OpenID Connect Registration §2)."""
    contacts: Many[Text] | None = None
    """Addresses of the people responsible (RFC 7591 §2)."""
    software_id: Text | None = None
    """What the software is, the same for all its instances (RFC 7591 §2)."""
    software_version: Text | None = None
    """Its version (RFC 7591 §2)."""
    initiate_login_uri: WebUrl | None = None
    """Where a third party may start a login at the client (OIDC Core §4)."""
    request_uris: Many[WebUrl] | None = None
    """Request objects that may be passed by reference (OIDC Core §6.2)."""
    default_acr_values: Many[Text] | None = None
    """acr_values where a request has none (OpenID Connect Registration §2)."""
    require_auth_time: bool | None = None
    """Identity tokens always carry auth_time (OpenID Connect Registration §2)."""
    token_endpoint_auth_signing_alg: RegisteredAlgorithm | None = None
    """The algorithm of client assertions (OpenID Connect Registration §2)."""
    userinfo_encrypted_response_alg: KeyManagementAlgorithm | None = None
    """How the key of encrypted userinfo answers is wrapped."""
    userinfo_encrypted_response_enc: ContentEncryption | None = None
    """How userinfo answers are encrypted."""
    request_object_encryption_alg: KeyManagementAlgorithm | None = None
    """How the key of encrypted request objects is wrapped."""
    request_object_encryption_enc: ContentEncryption | None = None
    """How request objects are encrypted."""
    authorization_encrypted_response_alg: KeyManagementAlgorithm | None = None
    """How the key of encrypted authorization responses is wrapped (JARM §3)."""
    authorization_encrypted_response_enc: ContentEncryption | None = None
    """How authorization responses are encrypted (JARM §3)."""
    introspection_encrypted_response_alg: KeyManagementAlgorithm | None = None
    """How the key of encrypted introspection answers is wrapped (RFC 9701 §6)."""
    introspection_encrypted_response_enc: ContentEncryption | None = None
    """How introspection answers are encrypted (RFC 9701 §6)."""
    tls_client_auth_san_uri: Text | None = None
    """The URI in the client's certificate (RFC 8705 §2.1.2)."""
    tls_client_auth_san_ip: Text | None = None
    """The IP address in the client's certificate (RFC 8705 §2.1.2)."""
    tls_client_auth_san_email: Text | None = None
    """The mail address in the client's certificate (RFC 8705 §2.1.2)."""
    authorization_details_types: Many[Text] | None = None
    """Types of authorization_details that the client uses (RFC 9396 §10)."""
    backchannel_token_delivery_mode: Literal["poll", "ping", "push"] | None = None
    """How the client learns of a finished CIBA request (CIBA §4)."""
    backchannel_client_notification_endpoint: WebUrl | None = None
    """Where it is notified (CIBA §4)."""
    backchannel_authentication_request_signing_alg: SigningAlgorithm | None = None
    """The algorithm of signed CIBA requests (CIBA §4)."""
    backchannel_user_code_parameter: bool | None = None
    """Whether CIBA requests carry a user code (CIBA §4)."""
