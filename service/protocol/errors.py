"""The errors that callers receive: one class for each code that the RFCs register."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

import msgspec

LONGEST = 200
HIDDEN = "(hidden)"

_USERINFO = re.compile(r"(?<=//)[^/?#]*@")
_START_OF_URL = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?(?:(?:[a-z0-9-]+\.)*[a-z0-9-]+(?=[:/?#]|$))?", re.IGNORECASE
)
_LONG_RUN = re.compile(r"[A-Za-z0-9_~+=-]{20,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NOT_FOR_DESCRIPTIONS = re.compile(r"[^\x20-\x21\x23-\x5B\x5D-\x7E]")


class RefusedValue(msgspec.Struct, frozen=True):
    """A parameter of a request, and the value that was refused, as the log and developers may see it."""

    parameter: str | None = None
    value: str | None = None
    client_id: str | None = None
    """The client whose registration does not allow the value."""

    def __repr__(self) -> str:
        return f"RefusedValue(parameter={self.parameter!r}, client_id={self.client_id!r})"

    @property
    def shown(self) -> str | None:
        """The value, shortened and without texts that look like a credential."""
        if self.value is None:
            return None
        text = hide_credentials(self.value)
        return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def hide_credentials(text: str) -> str:
    """Replace userinfo of URLs and long runs of random characters; operators need a URL's host, which is kept."""
    text = _USERINFO.sub(f"{HIDDEN}@", text)
    url = _START_OF_URL.match(text)
    kept = url[0] if url else ""
    return kept + _LONG_RUN.sub(_hide, text[len(kept) :])


def _hide(run: re.Match[str]) -> str:
    text = run[0]
    is_words = not re.search(r"[0-9]", text) and (text.islower() or text.isupper())
    return text if is_words or _UUID.fullmatch(text) else HIDDEN


TOKEN_RESPONSE_MEMBERS = frozenset(
    (
        *("access_token", "token_type", "expires_in", "scope", "authorization_details"),
        *("refresh_token", "id_token"),
    )
)
"""The standard members of a token response (RFC 6749 §5.1), which no grant's own members replace or add."""


class OAuthError(Exception):
    """An error for the caller; its description says what to change (RFC 6749 §5.2)."""

    code: ClassVar[str] = ""
    status: int = 400

    def __init_subclass__(cls, *, code: str | None = None, status: int | None = None) -> None:
        super().__init_subclass__()
        cls.code, cls.status = code or cls.code, status or cls.status

    def __init__(
        self,
        description: str,
        *,
        members: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        refused: RefusedValue | None = None,
        claimed: str | None = None,
    ) -> None:
        """Take a description without secrets, members that a grant adds at the top level, headers of
        the answer, and for the log the refused value and the client_id of a client that the caller claims to be.

        Characters that a description must not hold are replaced: extensions write descriptions, too (RFC 6749 §5.2).
        """
        super().__init__(description)
        self.description = _NOT_FOR_DESCRIPTIONS.sub("?", description)
        named = members or {}
        self.members = {n: named[n] for n in named if n not in TOKEN_RESPONSE_MEMBERS}
        self.headers = headers or {}
        self.refused = refused or RefusedValue()
        self.claimed = claimed


class InvalidRequest(OAuthError, code="invalid_request"):
    """A parameter is missing, repeated, malformed or too long (RFC 6749 §5.2)."""


class AlreadyAnswered(InvalidRequest):
    """Another post of the same form, or the same form at another replica, was faster."""


class UnsupportedMediaType(InvalidRequest, status=415):
    """The body is not form-encoded (RFC 6749 appendix B, RFC 9110 §15.5.16)."""


class ContentTooLarge(InvalidRequest, status=413):
    """The body exceeds the configured number of bytes (RFC 9110 §15.5.14)."""


class RequestTimeout(InvalidRequest, status=408):
    """The body did not arrive in time (RFC 9110 §15.5.9)."""


class InvalidClient(OAuthError, code="invalid_client", status=401):
    """The client is unknown or did not authenticate (RFC 6749 §5.2)."""


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


class InvalidAuthorizationDetails(OAuthError, code="invalid_authorization_details"):
    """The authorization_details are malformed, of an unknown type, or not allowed (RFC 9396 §5)."""


class AccessDenied(OAuthError, code="access_denied"):
    """The resource owner refused (RFC 6749 §4.1.2.1)."""


class AuthorizationPending(OAuthError, code="authorization_pending"):
    """The user has not decided yet; the client polls again after the interval (RFC 8628 §3.5)."""


class SlowDown(OAuthError, code="slow_down"):
    """The client polls too often; its interval is five seconds longer from now on (RFC 8628 §3.5)."""


class ExpiredToken(OAuthError, code="expired_token"):
    """The device code or auth_req_id has expired before it was used (RFC 8628 §3.5, CIBA Core §11)."""


class CibaAccessDenied(AccessDenied, status=403):
    """The user is not asked at all (CIBA Core §13)."""


class UnknownUserId(OAuthError, code="unknown_user_id"):
    """No user is the one that the hint names (CIBA Core §13)."""


class UnknownSubject(UnknownUserId, status=404):
    """There is no such user, or not for the caller (draft-parecki-oauth-global-token-revocation-06 §3.4.2)."""


class UnusableSubject(InvalidRequest, status=422):
    """The user cannot be found out, though the request is right (likewise)."""


class MayNotRevoke(UnauthorizedClient, status=403):
    """The caller is authenticated, and may not ask for the end of anybody's access (likewise)."""


class ExpiredLoginHintToken(OAuthError, code="expired_login_hint_token"):
    """The login_hint_token has expired (CIBA Core §13)."""


class MissingUserCode(OAuthError, code="missing_user_code"):
    """The user is not to be asked without the user's own code (CIBA Core §13)."""


class InvalidUserCode(OAuthError, code="invalid_user_code"):
    """The code is not the user's own (CIBA Core §13)."""


class InvalidBindingMessage(OAuthError, code="invalid_binding_message"):
    """The binding message is missing, too long, or not to be shown to people (CIBA Core §13)."""


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


class InvalidDpopProof(OAuthError, code="invalid_dpop_proof"):
    """The DPoP proof is missing, malformed, used before, or not made for this request (RFC 9449 §5, §7.1)."""


class UseDpopNonce(OAuthError, code="use_dpop_nonce"):
    """The DPoP proof has to hold the nonce that comes with this error (RFC 9449 §8, §9)."""


class InvalidToken(OAuthError, code="invalid_token", status=401):
    """The access token is expired, revoked or malformed (RFC 6750 §3.1)."""


class MissingToken(InvalidToken):
    """The request holds no token, so that the challenge names no error (RFC 6750 §3.1)."""


class InsufficientScope(OAuthError, code="insufficient_scope", status=403):
    """The access token lacks a scope that this resource needs (RFC 6750 §3.1)."""


class InsufficientUserAuthentication(
    OAuthError, code="insufficient_user_authentication", status=401
):
    """The user did not authenticate well enough, or too long ago (RFC 9470 §3)."""


class TemporarilyUnavailable(OAuthError, code="temporarily_unavailable", status=503):
    """The store is unavailable; the same request may be repeated later (RFC 6749 §4.1.2.1)."""

    def __init__(
        self,
        description: str,
        *,
        retry_after: int = 5,
        members: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        refused: RefusedValue | None = None,
        claimed: str | None = None,
    ) -> None:
        """Take what every error takes, and the seconds after which the caller may try again (RFC 9110 §10.2.3)."""
        self.retry_after = retry_after
        headers = {"Retry-After": str(retry_after), **(headers or {})}
        super().__init__(
            description, members=members, headers=headers, refused=refused, claimed=claimed
        )


class TooManyRequests(TemporarilyUnavailable, status=429):
    """A rate limit is exceeded (RFC 6585 §4)."""


class TooManyWrongCodes(TooManyRequests):
    """So many user codes of devices were wrong that none is looked up for some time (RFC 8628 §5.1)."""


class ServerError(OAuthError, code="server_error", status=500):
    """Something unforeseen happened (RFC 6749 §4.1.2.1)."""


def unforeseen_error() -> ServerError:
    """Return what is answered for a fault of this service: nothing of the fault itself."""
    return ServerError("something unforeseen happened")
