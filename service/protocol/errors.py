"""The errors that callers receive: one class for each code that the RFCs register."""

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
    """An error for the caller; its description says what to change (RFC 6749 §5.2)."""

    code: ClassVar[str]
    status: ClassVar[int] = 400

    def __init_subclass__(cls, *, code: str | None = None, status: int | None = None) -> None:
        super().__init_subclass__()
        if code is not None:
            cls.code = code
        if status is not None:
            cls.status = status

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


class InvalidRequest(OAuthError, code="invalid_request"):
    """A parameter is missing, repeated, malformed or too long (RFC 6749 §5.2)."""


class AlreadyAnswered(InvalidRequest):
    """Another post of the same form, or the same form at another replica, was faster."""


class UnsupportedMediaType(InvalidRequest, status=415):
    """The body is not form-encoded (RFC 6749 appendix B, RFC 9110 §15.5.16)."""


class ContentTooLarge(InvalidRequest, status=413):
    """The body exceeds the configured number of bytes (RFC 9110 §15.5.14)."""


class InvalidClient(OAuthError, code="invalid_client", status=401):
    """The client is unknown or did not authenticate (RFC 6749 §5.2)."""

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


class InvalidGrant(OAuthError, code="invalid_grant"):
    """The code, token or assertion is invalid, expired, revoked or another client's (RFC 6749 §5.2)."""


class UnauthorizedClient(OAuthError, code="unauthorized_client"):
    """The client's registration does not allow this grant or response type (RFC 6749 §5.2)."""


class UnsupportedGrantType(OAuthError, code="unsupported_grant_type"):
    """No grant of that name is installed (RFC 6749 §5.2)."""


class InvalidScope(OAuthError, code="invalid_scope"):
    """A scope value is unknown, malformed or not allowed (RFC 6749 §5.2)."""


class InvalidTarget(OAuthError, code="invalid_target"):
    """The resource is unknown or not allowed (RFC 8707 §2)."""


class AccessDenied(OAuthError, code="access_denied"):
    """The resource owner refused (RFC 6749 §4.1.2.1)."""


class UnsupportedResponseType(OAuthError, code="unsupported_response_type"):
    """No such response type (RFC 6749 §4.1.2.1)."""


class LoginRequired(OAuthError, code="login_required"):
    """No user is signed in and prompt=none forbids asking (OIDC Core §3.1.2.6)."""


class ConsentRequired(OAuthError, code="consent_required"):
    """Consent is missing and prompt=none forbids asking (OIDC Core §3.1.2.6)."""


class InteractionRequired(OAuthError, code="interaction_required"):
    """Some page is needed and prompt=none forbids it (OIDC Core §3.1.2.6)."""


class AccountSelectionRequired(OAuthError, code="account_selection_required"):
    """An account has to be chosen and prompt=none forbids asking (OIDC Core §3.1.2.6)."""


class UnmetAuthenticationRequirements(OAuthError, code="unmet_authentication_requirements"):
    """An essential acr cannot be met (OpenID Connect Unmet Authentication Requirements 1.0)."""


class InvalidRequestObject(OAuthError, code="invalid_request_object"):
    """The request object cannot be verified, or contradicts the parameters (RFC 9101 §7)."""


class InvalidRequestUri(OAuthError, code="invalid_request_uri"):
    """The request_uri leads to no request object, or is not registered (RFC 9101 §7)."""


class RegistrationNotSupported(OAuthError, code="registration_not_supported"):
    """The registration parameter is not accepted (OIDC Core §3.1.2.6)."""


class InvalidRedirectUri(OAuthError, code="invalid_redirect_uri"):
    """A redirect URI cannot be registered (RFC 7591 §3.2.2)."""


class InvalidClientMetadata(OAuthError, code="invalid_client_metadata"):
    """Some other metadata value cannot be registered (RFC 7591 §3.2.2)."""


class InvalidSoftwareStatement(OAuthError, code="invalid_software_statement"):
    """The software statement is not a JWT (RFC 7591 §3.2.2)."""


class UnapprovedSoftwareStatement(OAuthError, code="unapproved_software_statement"):
    """The software statement has an issuer that is not trusted (RFC 7591 §3.2.2)."""


class InvalidToken(OAuthError, code="invalid_token", status=401):
    """The access token is expired, revoked or malformed (RFC 6750 §3.1)."""


class MissingToken(InvalidToken):
    """The request holds no token, so that the challenge names no error (RFC 6750 §3.1)."""


class InsufficientScope(OAuthError, code="insufficient_scope", status=403):
    """The access token lacks a scope that this resource needs (RFC 6750 §3.1)."""


class TemporarilyUnavailable(OAuthError, code="temporarily_unavailable", status=503):
    """The store is away; the same request may be repeated later (RFC 6749 §4.1.2.1)."""

    def __init__(self, description: str, *, retry_after: int = 5) -> None:
        """Take the number of seconds after which the caller may try again (RFC 9110 §10.2.3)."""
        super().__init__(description, headers={"Retry-After": str(retry_after)})


class TooManyRequests(TemporarilyUnavailable, status=429):
    """A rate limit is exceeded (RFC 6585 §4)."""


class ServerError(OAuthError, code="server_error", status=500):
    """Something unforeseen happened (RFC 6749 §4.1.2.1)."""
