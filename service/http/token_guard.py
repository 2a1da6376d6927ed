"""Guards protected resources: finds the active token of a request, or asks for one (RFC 6750)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from service.http.credentials import CredentialReader, bearer_token
from service.http.message import Message
from service.http.parameters import FORM, form_params, media_type
from service.protocol.errors import InvalidRequest, InvalidToken, MissingToken, OAuthError
from service.protocol.http_headers import bearer_challenge
from service.tokens.active import ActiveToken, ActiveTokens

E = TypeVar("E", bound=OAuthError)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGuard:
    active_tokens: ActiveTokens
    credentials: CredentialReader

    async def find_token(self, request: Message) -> ActiveToken:
        """Return the token, which the sender may use; raise an error with a challenge otherwise."""
        try:
            return await self._find(request)
        except (InvalidRequest, InvalidToken) as error:
            raise self.add_challenge(error) from error

    def add_challenge(self, error: E) -> E:
        """Ask for a token that does not cause this error."""
        error.headers = bearer_challenge(self.active_tokens.issuer, error)
        return error

    async def _find(self, request: Message) -> ActiveToken:
        token = await self.active_tokens.find(await _read_token(request))
        if token is None:
            raise InvalidToken("the access token is expired, revoked or malformed")
        if token.cnf is not None:
            certificate = self.credentials.read_certificate(request)
            if certificate is None or certificate.confirmation != token.cnf:
                raise InvalidToken(
                    "the access token is bound to a key that the sender did not prove"
                )
        return token


async def _read_token(request: Message) -> str:
    """Return the token in the header or the form body, never in the query (RFC 6750 §2)."""
    in_header, in_body = bearer_token(request), None
    if request.method == "POST" and media_type(request) == FORM:
        in_body = (await form_params(request)).get("access_token")
    if in_header and in_body:
        raise InvalidRequest("the access token is sent in more than one way")
    token = in_header or in_body
    if token is None:
        raise MissingToken("the request holds no access token")
    return token
