"""What may go wrong: one class for each error code that the RFCs register."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from service.protocol.refused_value import NO_VALUE, RefusedValue

_NO_MEMBERS: Mapping[str, object] = MappingProxyType({})
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_NOT_FOR_DESCRIPTIONS = re.compile(r"[^\x20-\x21\x23-\x5B\x5D-\x7E]")


class OAuthError(Exception):
    """An error that the caller is told about; the description says what to change (RFC 6749 §5.2)."""

    code: ClassVar[str]
    status: ClassVar[int] = 400

    def __init__(
        self,
        description: str,
        *,
        members: Mapping[str, object] = _NO_MEMBERS,
        headers: Mapping[str, str] = _NO_HEADERS,
        refused: RefusedValue = NO_VALUE,
    ) -> None:
        """Take a description without secrets, members that a grant adds at the top level, headers
        of the answer such as `WWW-Authenticate`, and for the log the refused value.

        Characters that a description must not hold are replaced: extensions write descriptions, too (RFC 6749 §5.2).
        """
        super().__init__(description)
        self.description = _NOT_FOR_DESCRIPTIONS.sub("?", description)
        self.members = members
        self.headers = headers
        self.refused = refused


class InvalidRequest(OAuthError):
    """A parameter is missing, repeated, malformed or too long (RFC 6749 §5.2)."""

    code = "invalid_request"


class AlreadyAnswered(InvalidRequest):
    """Another post of the same form, or the same form at another replica, was faster."""


class UnsupportedMediaType(InvalidRequest):
    """The body is not form-encoded (RFC 6749 appendix B, RFC 9110 §15.5.16)."""

    status = 415


class ContentTooLarge(InvalidRequest):
    """The body exceeds the configured number of bytes (RFC 9110 §15.5.14)."""

    status = 413


class InvalidClient(OAuthError):
    """The client is unknown or did not authenticate (RFC 6749 §5.2)."""

    code = "invalid_client"
    status = 401

    def __init__(
        self,
        description: str,
        *,
        members: Mapping[str, object] = _NO_MEMBERS,
        headers: Mapping[str, str] = _NO_HEADERS,
        claimed: str | None = None,
    ) -> None:
        """Take for the log the client_id that the caller claimed, if there is such a client."""
        super().__init__(description, members=members, headers=headers)
        self.claimed = claimed


class InvalidGrant(OAuthError):
    """What the client presented is invalid, expired, revoked or another client's (RFC 6749 §5.2)."""

    code = "invalid_grant"


class UnauthorizedClient(OAuthError):
    """The client's registration does not allow this grant or response type (RFC 6749 §5.2)."""

    code = "unauthorized_client"


class UnsupportedGrantType(OAuthError):
    """No grant of that name is installed (RFC 6749 §5.2)."""

    code = "unsupported_grant_type"


class InvalidScope(OAuthError):
    """A scope value is unknown, malformed or not allowed (RFC 6749 §5.2)."""

    code = "invalid_scope"


class InvalidTarget(OAuthError):
    """The resource is unknown or not allowed (RFC 8707 §2)."""

    code = "invalid_target"


class AccessDenied(OAuthError):
    """The resource owner refused (RFC 6749 §4.1.2.1)."""

    code = "access_denied"


class UnsupportedResponseType(OAuthError):
    """No such response type (RFC 6749 §4.1.2.1)."""

    code = "unsupported_response_type"


class LoginRequired(OAuthError):
    """Nobody is signed in and prompt=none forbids asking (OIDC Core §3.1.2.6)."""

    code = "login_required"


class ConsentRequired(OAuthError):
    """Consent is missing and prompt=none forbids asking (OIDC Core §3.1.2.6)."""

    code = "consent_required"


class InteractionRequired(OAuthError):
    """Some page is needed and prompt=none forbids it (OIDC Core §3.1.2.6)."""

    code = "interaction_required"


class AccountSelectionRequired(OAuthError):
    """An account has to be chosen and prompt=none forbids asking (OIDC Core §3.1.2.6)."""

    code = "account_selection_required"


class UnmetAuthenticationRequirements(OAuthError):
    """An essential acr cannot be met (OpenID Connect Unmet Authentication Requirements 1.0)."""

    code = "unmet_authentication_requirements"


class InvalidRequestObject(OAuthError):
    """The request object cannot be verified, or says something else than what was sent (RFC 9101 §7)."""

    code = "invalid_request_object"


class InvalidRequestUri(OAuthError):
    """There is no request object behind the request_uri, or the URL is not registered (RFC 9101 §7)."""

    code = "invalid_request_uri"


class RegistrationNotSupported(OAuthError):
    """The registration parameter is not accepted (OIDC Core §3.1.2.6)."""

    code = "registration_not_supported"


class InvalidRedirectUri(OAuthError):
    """A redirect URI cannot be registered (RFC 7591 §3.2.2)."""

    code = "invalid_redirect_uri"


class InvalidClientMetadata(OAuthError):
    """Some other metadata value cannot be registered (RFC 7591 §3.2.2)."""

    code = "invalid_client_metadata"


class InvalidSoftwareStatement(OAuthError):
    """The software statement is no JWT (RFC 7591 §3.2.2)."""

    code = "invalid_software_statement"


class UnapprovedSoftwareStatement(OAuthError):
    """Nobody who is trusted here made the software statement (RFC 7591 §3.2.2)."""

    code = "unapproved_software_statement"


class InvalidToken(OAuthError):
    """The access token is expired, revoked or malformed (RFC 6750 §3.1)."""

    code = "invalid_token"
    status = 401


class MissingToken(InvalidToken):
    """The request holds no token, so that the challenge names no error (RFC 6750 §3.1)."""


class InsufficientScope(OAuthError):
    """The access token lacks a scope that this resource needs (RFC 6750 §3.1)."""

    code = "insufficient_scope"
    status = 403


class TemporarilyUnavailable(OAuthError):
    """The store is away; the same request may be repeated later (RFC 6749 §4.1.2.1)."""

    code = "temporarily_unavailable"
    status = 503

    def __init__(self, description: str, *, retry_after: int = 5) -> None:
        """Take the number of seconds after which the caller may try again (RFC 9110 §10.2.3)."""
        super().__init__(description, headers={"Retry-After": str(retry_after)})


class TooManyRequests(TemporarilyUnavailable):
    """A rate limit is exceeded (RFC 6585 §4)."""

    status = 429


class ServerError(OAuthError):
    """Something unforeseen happened (RFC 6749 §4.1.2.1)."""

    code = "server_error"
    status = 500
