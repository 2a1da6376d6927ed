"""/connect/register: clients register, read, change and delete themselves (RFC 7591, RFC 7592, OpenID Connect Registration)."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated

from service.clients.registration.registration import ClientRegistration, Registration
from service.events.clients import RegistrationRefused
from service.events.event import Emit
from service.model import marks
from service.model.client_metadata import RegisteredClient
from service.protocol.errors import InvalidToken, MissingToken, OAuthError, TemporarilyUnavailable
from service.protocol.http_headers import bearer_challenge
from service.protocol.paths import REGISTER
from service.store.rate_limit import RateLimit
from service.web.endpoint import (
    ANY_ORIGIN,
    Answer,
    Direct,
    Handler,
    Message,
    empty_answer,
    json_answer,
    name_in,
)
from service.web.parameters import json_object
from service.web.proxy import ClientAddress
from service.web.sent_credentials import presented_token

ONE = REGISTER + "/{client_id}"

OPEN_PER_MINUTE = 60
"""Limit of each network for changes, and for registrations without an initial access token."""


class RegisterEndpoint(marks.Confidential, frozen=True, kw_only=True):
    """Anybody may register if no initial access token is configured (RFC 7591 §1.2)."""

    issuer: str
    registration: ClientRegistration
    initial_access_tokens: Annotated[tuple[bytes, ...], marks.SECRET]
    """Their SHA-256 hashes."""
    rate_limit: RateLimit
    client_address: ClientAddress
    emit: Emit

    def routes(self) -> Iterable[Direct]:
        return (
            Direct("POST", REGISTER, self._guard(self.register), scripts=ANY_ORIGIN),
            Direct("GET", ONE, self._guard(self.read)),
            Direct("PUT", ONE, self._guard(self.update)),
            Direct("DELETE", ONE, self._guard(self.delete)),
        )

    def metadata(self) -> Mapping[str, object]:
        return {"registration_endpoint": REGISTER}

    async def register(self, request: Message) -> Answer:
        """Add a client (RFC 7591 §3.1); pages of every origin may, because their client is not known yet."""
        if self.initial_access_tokens:
            self._check_initial_access_token(presented_token(request, "bearer"))
        else:
            await self._count(request)
        registration = await self.registration.register(await json_object(request))
        return self._answer(registration, status=HTTPStatus.CREATED)

    async def read(self, request: Message) -> Answer:
        """Return the registration, without the secret, which only the client knows (RFC 7592 §2.1)."""
        record, token = await self._authorize(request)
        return self._answer(Registration(record=record, access_token=token, secret=None))

    async def update(self, request: Message) -> Answer:
        """Replace the metadata (RFC 7592 §2.2)."""
        record, token = await self._authorize(request)
        await self._count(request, "change ")
        metadata = await json_object(request)
        return self._answer(await self.registration.update(record, metadata, access_token=token))

    async def delete(self, request: Message) -> Answer:
        """Delete the client (RFC 7592 §2.3)."""
        record, _ = await self._authorize(request)
        await self.registration.delete(record)
        return empty_answer(HTTPStatus.NO_CONTENT)

    async def _authorize(self, request: Message) -> tuple[RegisteredClient, str]:
        token = presented_token(request, "bearer")
        if token is None:
            raise MissingToken("the registration access token is missing")
        return await self.registration.authorize(name_in(request, REGISTER + "/"), token), token

    async def _count(self, request: Message, kind: str = "") -> None:
        await self.rate_limit.count_network(self.client_address.find(request), kind=kind)

    def _check_initial_access_token(self, token: str | None) -> None:
        """Compare it with all tokens in constant time (RFC 7591 §3.1)."""
        if token is None:
            raise MissingToken("the initial access token is missing")
        digest = sha256(token.encode(errors="surrogateescape")).digest()  # it may hold any byte
        matches = [hmac.compare_digest(digest, known) for known in self.initial_access_tokens]
        if not any(matches):
            raise InvalidToken("the initial access token is not one of this service")

    def _answer(self, registration: Registration, *, status: int = 200) -> Answer:
        """Return the metadata and the client's credentials (RFC 7591 §3.2.1, RFC 7592 §3)."""
        record = registration.record
        content: dict[str, object] = {
            **record.metadata,
            "client_id": record.client_id,
            "client_id_issued_at": record.issued_at,
            "registration_access_token": registration.access_token,
            "registration_client_uri": f"{self.issuer.rstrip('/')}{REGISTER}/{record.client_id}",
        }
        if registration.secret is not None:
            content["client_secret"] = registration.secret
            content["client_secret_expires_at"] = record.expires_at or 0
        return json_answer(content, status=status)

    def _guard(self, handler: Handler) -> Handler:
        """Add the challenge to errors about tokens, and write refusals to the audit log."""

        async def handle(request: Message) -> Answer:
            try:
                return await handler(request)
            except TemporarilyUnavailable:
                raise
            except OAuthError as error:
                self.emit(RegistrationRefused(error=error.code, cause=error.description))
                if isinstance(error, InvalidToken):
                    error.headers = bearer_challenge(self.issuer, error)
                raise

        return handle
