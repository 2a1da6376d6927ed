"""/connect/register: clients register and look after themselves (RFC 7591, RFC 7592, OpenID Connect Registration)."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus

from aiohttp import web

from service.clients.registration.registration import ClientRegistration, Registered
from service.http.answer import NO_STORE
from service.http.credentials import bearer_token
from service.http.parameters import json_object
from service.http.proxy import ClientAddress
from service.http.respond import json_response
from service.model.events import Emit, RegistrationRefused
from service.model.network import network_of
from service.model.registered_client import RegisteredClient
from service.protocol.challenge import bearer_challenge
from service.protocol.errors import InvalidToken, MissingToken, OAuthError, TemporarilyUnavailable
from service.store.rate_limit import RateLimit

PATH = "/connect/register"
ONE = PATH + "/{client_id}"

OPEN_PER_MINUTE = 60
"""How many registrations one address may try in a minute where no token is asked for, and how many changes anyway."""

Handler = Callable[[web.Request], Awaitable[web.Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterEndpoint:
    """Lets in who has an initial access token, or everybody where none is configured (RFC 7591 §1.2)."""

    issuer: str
    registration: ClientRegistration
    initial_access_tokens: tuple[bytes, ...] = field(repr=False)
    """Their SHA-256 hashes."""
    rate_limit: RateLimit
    client_address: ClientAddress
    emit: Emit

    def routes(self) -> Iterable[web.RouteDef]:
        """The endpoint, and the client configuration endpoint of each client (RFC 7592 §2)."""
        return (
            web.post(PATH, self._telling(self.register)),
            web.get(ONE, self._telling(self.read), allow_head=False),
            web.put(ONE, self._telling(self.update)),
            web.delete(ONE, self._telling(self.delete)),
        )

    def metadata(self) -> Mapping[str, object]:
        """Where it is (RFC 8414 §2)."""
        return {"registration_endpoint": PATH}

    async def register(self, request: web.Request) -> web.Response:
        """Make a client of the metadata (RFC 7591 §3.1)."""
        if self.initial_access_tokens:
            self._check_initial_access_token(bearer_token(request))
        else:
            await self.rate_limit.count(self._client_network(request))
        registered = await self.registration.register(await json_object(request))
        return json_response(self._information(registered), status=HTTPStatus.CREATED)

    async def read(self, request: web.Request) -> web.Response:
        """Tell what is registered, but for a secret that nobody here knows (RFC 7592 §2.1)."""
        record, token = await self._authorized(request)
        registered = Registered(record=record, access_token=token, secret=None)
        return json_response(self._information(registered))

    async def update(self, request: web.Request) -> web.Response:
        """Put other metadata in place of all that there were (RFC 7592 §2.2)."""
        record, token = await self._authorized(request)
        await self.rate_limit.count(f"change {self._client_network(request)}")
        asked = await json_object(request)
        updated = await self.registration.update(record, asked, access_token=token)
        return json_response(self._information(updated))

    async def delete(self, request: web.Request) -> web.Response:
        """End the client (RFC 7592 §2.3)."""
        record, _ = await self._authorized(request)
        await self.registration.delete(record)
        return web.Response(status=HTTPStatus.NO_CONTENT, headers=NO_STORE)

    async def _authorized(self, request: web.Request) -> tuple[RegisteredClient, str]:
        token = bearer_token(request)
        if token is None:
            raise MissingToken("the registration access token is missing")
        return await self.registration.authorized(request.match_info["client_id"], token), token

    def _client_network(self, request: web.Request) -> str:
        """Who is counted."""
        return network_of(self.client_address.find(request))

    def _check_initial_access_token(self, token: str | None) -> None:
        """In constant time for all of them (RFC 7591 §3.1)."""
        if token is None:
            raise MissingToken("the initial access token is missing")
        octets = token.encode(errors="surrogateescape")  # a header may hold any byte
        digest = sha256(octets).digest()
        matches = [hmac.compare_digest(digest, known) for known in self.initial_access_tokens]
        if not any(matches):
            raise InvalidToken("the initial access token is not one of this service")

    def _information(self, registered: Registered) -> Mapping[str, object]:
        """The metadata in force, and what only this client may know (RFC 7591 §3.2.1, RFC 7592 §3)."""
        record, base = registered.record, self.issuer.rstrip("/")
        information = {
            **record.metadata,
            "client_id": record.client_id,
            "client_id_issued_at": record.issued_at,
            "registration_access_token": registered.access_token,
            "registration_client_uri": f"{base}{PATH}/{record.client_id}",
        }
        if registered.secret is not None:
            information["client_secret"] = registered.secret
            information["client_secret_expires_at"] = record.expires_at or 0
        return information

    def _telling(self, handler: Handler) -> Handler:
        """The handler, whose refusals the audit log hears of."""

        async def telling(request: web.Request) -> web.Response:
            try:
                return await handler(request)
            except TemporarilyUnavailable:
                raise
            except OAuthError as error:
                self.emit(RegistrationRefused(error=error.code, cause=error.description))
                if isinstance(error, InvalidToken):
                    error.headers = bearer_challenge(self.issuer, error)
                raise

        return telling
