"""Reads from a request the proof that its sender holds a key, and answers with the nonce for the next one (RFC 9449, RFC 8705 §3).

Protected resources find the active token of a request, or ask for one (RFC 6750, RFC 9449 §7).
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TypeVar

import msgspec

from service.clients.proofs import DpopProofs, ProofRequest
from service.clock import clock
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.keys.certificates import has_allowed_key, is_valid_at
from service.model.authorization import Confirmation, token_type
from service.model.client import Client
from service.model.credentials import RequestCredentials
from service.protocol.errors import (
    InvalidDpopProof,
    InvalidRequest,
    InvalidToken,
    MissingToken,
    OAuthError,
    UseDpopNonce,
)
from service.protocol.http_headers import token_challenges
from service.store.room import MARKER, Room
from service.tokens.active import ActiveToken, ActiveTokens
from service.web.endpoint import Message
from service.web.parameters import FORM, form_params, media_type
from service.web.proxy import ClientAddress
from service.web.sent_credentials import DPOP, CredentialReader, dpop_proofs, presented_token

E = TypeVar("E", bound=OAuthError)


class OriginalRequest(msgspec.Struct, frozen=True):
    """A request that a proxy asks about, as its sender sent it."""

    method: str
    url: str
    """Without query and fragment."""
    challenge: str
    """Further parameters of the challenge if it is refused, each after a comma."""


class KeyProofs(msgspec.Struct, frozen=True, kw_only=True):
    dpop: DpopProofs
    room: Room
    client_address: ClientAddress

    async def confirm(
        self, request: Message, client: Client, credentials: RequestCredentials
    ) -> Confirmation | None:
        """Return the key or certificate that the client proves to hold, if it does or has to (RFC 9449 §5, RFC 8705 §3)."""
        if client.tls_client_certificate_bound_access_tokens:
            return self.read_certificate(request, client, credentials)
        if DPOP not in request.headers and not client.dpop_bound_access_tokens:
            return None
        return await self._verify_counted(request, client)

    async def confirm_code(
        self, request: Message, client: Client, credentials: RequestCredentials
    ) -> Confirmation | None:
        """Return the key or certificate that the code of a pushed request is bound to (RFC 9449 §10.1).

        A confidential client may have a new certificate when it redeems the code: it authenticates (RFC 8705 §6.3).
        """
        proofs = dpop_proofs(request)
        if client.tls_client_certificate_bound_access_tokens:
            is_shown = client.is_public and credentials.certificate is not None
            is_read = is_shown or proofs
            return self.read_certificate(request, client, credentials) if is_read else None
        return await self._verify_counted(request, client) if proofs else None

    def read_certificate(
        self, request: Message, client: Client, credentials: RequestCredentials
    ) -> Confirmation:
        """Return the certificate that tokens are bound to; raise InvalidRequest unless a valid one is shown."""
        if dpop_proofs(request):
            raise InvalidRequest("the client's tokens are bound to its certificate, not by DPoP")
        certificate = credentials.certificate
        if certificate is None:
            raise InvalidRequest("the client's tokens are bound to a certificate: none was shown")
        if not is_valid_at(certificate, credentials.now):
            raise InvalidRequest("the client's certificate has expired, or is not valid yet")
        if not has_allowed_key(certificate, client):
            raise InvalidRequest("the client's profile does not allow the key of its certificate")
        return certificate.confirmation

    async def _verify_counted(self, request: Message, client: Client) -> Confirmation:
        """Verify the proof of a client; where anybody can send it, that it is remembered counts for the network."""
        if client.is_anybodys:
            seconds, address = self.dpop.remembered, self.client_address.find(request)
            await self.room.take_for(client, MARKER, seconds=seconds, address=address)
        return await self.verify(request, client)

    async def verify(
        self,
        request: Message,
        client: Client | None,
        access_token: str | None = None,
        original: OriginalRequest | None = None,
    ) -> Confirmation:
        """Return the key of the proof; raise InvalidDpopProof or UseDpopNonce."""
        allowed = client.accepted_algorithms(SIGNING_ALGORITHMS) if client else SIGNING_ALGORITHMS
        return await self.dpop.verify(
            ProofRequest(
                method=request.method if original is None else original.method,
                path=request.path,
                url=None if original is None else original.url,
                proofs=dpop_proofs(request),
                needs_nonce=self.dpop.nonces.are_needed_by(client),
                algorithms=allowed,
                access_token=access_token,
            )
        )

    def nonce_for(self, request: Message, client: Client | None) -> dict[str, str]:
        """Return the header with the nonce for the next proof, where one was sent and nonces are needed (RFC 9449 §8.2)."""
        if DPOP not in request.headers or not self.dpop.nonces.are_needed_by(client):
            return {}
        return self.dpop.nonces.header()


class TokenGuard(msgspec.Struct, frozen=True, kw_only=True):
    active_tokens: ActiveTokens
    credentials: CredentialReader
    proofs: KeyProofs

    async def find_token(self, request: Message) -> ActiveToken:
        """Return the token, which the sender may use; raise an error with challenges otherwise."""
        try:
            return await self._find(request, await _read_token(request), None)
        except (InvalidRequest, InvalidToken) as error:
            raise self.add_challenge(error, request) from error

    async def find_token_of(self, request: Message, original: OriginalRequest) -> ActiveToken:
        """Return the token of a request that a proxy asks about, whose body is not read."""
        try:
            text = presented_token(request, "bearer", "dpop")
            return await self._find(request, text, original)
        except (InvalidRequest, InvalidToken) as error:
            raise self.add_challenge(error, request, parameters=original.challenge) from error

    def add_challenge(
        self, error: E, request: Message, client: Client | None = None, *, parameters: str = ""
    ) -> E:
        """Ask for a token that does not cause this error, by the scheme of the request (RFC 9449 §7.1)."""
        error.headers = {
            **error.headers,
            **token_challenges(
                self.active_tokens.issuer,
                error,
                algorithms=SIGNING_ALGORITHMS,
                is_dpop=_is_dpop(request),
                parameters=parameters,
            ),
            **self.proofs.nonce_for(request, client),
        }
        return error

    async def _find(
        self, request: Message, text: str | None, original: OriginalRequest | None
    ) -> ActiveToken:
        if text is None:
            raise MissingToken("the request holds no access token")
        token = await self.active_tokens.find(text)
        if token is None:
            raise InvalidToken("the access token is expired, revoked or malformed")
        is_dpop = _is_dpop(request)
        if is_dpop != (token_type(token.cnf) == "DPoP"):
            raise InvalidToken("the access token is not one for this authentication scheme")
        if token.cnf is None:
            return token
        proven = (
            await self._prove_key(request, token, text, original)
            if is_dpop
            else self._read_certificate(request)
        )
        if proven != token.cnf:
            raise InvalidToken("the access token is bound to a key that the sender did not prove")
        return token

    def _read_certificate(self, request: Message) -> Confirmation | None:
        certificate = self.credentials.read_certificate(request)
        if certificate is None or not is_valid_at(certificate, clock()):
            return None
        return certificate.confirmation

    async def _prove_key(
        self, request: Message, token: ActiveToken, text: str, original: OriginalRequest | None
    ) -> Confirmation:
        client = await self.active_tokens.clients.find(str(token.claims["client_id"]))
        try:
            return await self.proofs.verify(request, client, text, original)
        except (InvalidDpopProof, UseDpopNonce) as error:
            error.status = HTTPStatus.UNAUTHORIZED
            parameters = "" if original is None else original.challenge
            raise self.add_challenge(error, request, client, parameters=parameters) from error


def _is_dpop(request: Message) -> bool:
    return request.headers.get("Authorization", "").partition(" ")[0].lower() == "dpop"


async def _read_token(request: Message) -> str | None:
    """Return the token in the header or the form body, never in the query (RFC 6750 §2)."""
    in_header, in_body = presented_token(request, "bearer", "dpop"), None
    if request.method == "POST" and media_type(request) == FORM:
        in_body = (await form_params(request)).get("access_token")
    if in_header and in_body:
        raise InvalidRequest("the access token is sent in more than one way")
    return in_header or in_body
