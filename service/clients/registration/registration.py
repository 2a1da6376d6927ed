"""Lets clients register themselves, and read, change and delete their registration (RFC 7591 §3, RFC 7592 §2)."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from http import HTTPStatus
from secrets import token_urlsafe
from typing import Annotated, cast

import msgspec
import structlog
from msgspec.structs import replace

from service.clients.directory import RegisteredClients
from service.clients.origins import RegisteredOrigins, origin_digests
from service.clients.registered_list import RegisteredList
from service.clients.registration.metadata import present_members, private_use_schemes
from service.clock import clock
from service.events.clients import ClientDeleted, ClientRegistered, ClientUpdated
from service.events.event import Emit
from service.keys.jose import looks_like_jwt
from service.model import marks
from service.model.client_metadata import RegisteredClient, new_client_id, selector_of
from service.model.handle import new_handle, parse_handle
from service.model.outgoing import HttpClient, HttpRequest, Unreachable
from service.model.request_context import caller
from service.protocol import errors
from service.store.room import MARKER, OVERHEAD, RegistrationRoom
from service.store.stores import Stores

log = structlog.stdlib.get_logger(__name__)

SECRET_BYTES = 48
"""Random bytes of a secret; its 64 characters are enough for HS512 (RFC 7518 §3.2)."""

_READ_ONLY = (
    *("registration_access_token", "registration_client_uri"),
    *("client_secret_expires_at", "client_id_issued_at"),
)


class Registration(marks.Confidential, frozen=True, kw_only=True):
    """A registration for its client; the store knows neither token nor secret."""

    record: RegisteredClient
    access_token: Annotated[str, marks.SECRET]
    secret: Annotated[str | None, marks.SECRET]
    """The client's secret, if it is new or the client has just sent it."""


class ClientRegistration(msgspec.Struct, frozen=True, kw_only=True):
    registered: RegisteredClients
    stores: Stores
    origins: RegisteredOrigins
    http: HttpClient
    """Guarded by the address policy."""
    lifetime: int | None
    room: RegistrationRoom | None
    """Where anyone may register."""
    emit: Emit

    async def register(self, metadata: Mapping[str, object]) -> Registration:
        """Add a client (RFC 7591 §3.1)."""
        metadata = present_members(metadata)
        _refuse_software_statement(metadata)
        client_id, now = new_client_id(), clock()
        selector = str(selector_of(client_id))
        token = new_handle("registration_access_token", selector)
        record = RegisteredClient(
            client_id=client_id,
            issued_at=now,
            expires_at=None if self.lifetime is None else now + self.lifetime,
            metadata=self.registered.policy.accept(metadata),
            access_token_digest=token.digest,
            secret_sha256=None,
            sealed_secret=None,
        )
        record, secret = self._renew_secret(record, None)
        await self._check_sector(record)
        await self._take_room(_size_of(record))
        kept = self.stores.registered_clients
        put = (
            kept.put_lasting(record, selector)
            if self.lifetime is None
            else kept.put(record, selector, ttl=self.lifetime)
        )
        registered = ClientRegistered(client_id=client_id)
        await self.stores.kv.write(
            put, RegisteredList(self.stores).add(record), events=[registered]
        )
        await self.origins.add(record)
        _warn_of_shared_schemes(record)
        self.emit(registered)
        return Registration(record=record, access_token=token.text, secret=secret)

    async def authorize(self, client_id: str, token: str) -> RegisteredClient:
        """Return the client's record; raise InvalidToken unless the token is its own (RFC 7592 §2)."""
        handle, selector = parse_handle(token, "registration_access_token"), selector_of(client_id)
        if handle is not None and handle.selector == selector:
            read = self.stores.registered_clients.read(handle.selector)
            (record,) = await self.stores.kv.read(read)
            if record and hmac.compare_digest(record.access_token_digest, handle.digest):
                return record
        raise errors.InvalidToken("the registration access token is not this client's")

    async def update(
        self, record: RegisteredClient, metadata: Mapping[str, object], *, access_token: str
    ) -> Registration:
        """Replace all metadata of a client (RFC 7592 §2.2)."""
        metadata = present_members(metadata)
        if metadata.get("client_id") != record.client_id:
            raise errors.InvalidRequest("client_id is missing, or is not that of the client")
        for name in _READ_ONLY:
            if name in metadata:
                raise errors.InvalidRequest(f"{name} must not be sent")
        _refuse_software_statement(metadata)
        sent_secret = _read_secret(record, metadata)
        changed = replace(record, metadata=self.registered.policy.accept(metadata))
        changed, secret = self._renew_secret(changed, sent_secret)
        await self._check_sector(changed)
        await self._take_room(_size_of(changed) - _size_of(record))
        selector = str(selector_of(record.client_id))
        rewrite = self.stores.registered_clients.rewrite(changed, selector)
        rewritten, *_ = await self.stores.kv.write(rewrite, *self.origins.remove(record))
        if not rewritten:
            raise errors.InvalidToken("the client was deleted meanwhile")
        await self.origins.add(changed)
        _warn_of_shared_schemes(changed)
        self.emit(ClientUpdated(client_id=record.client_id))
        return Registration(record=changed, access_token=access_token, secret=secret)

    async def delete(self, record: RegisteredClient) -> None:
        """Delete the client, which makes its tokens inactive (RFC 7592 §2.3)."""
        drop = self.stores.registered_clients.drop(str(selector_of(record.client_id)))
        unlist = RegisteredList(self.stores).remove(record.client_id)
        deleted, removed = ClientDeleted(client_id=record.client_id), self.origins.remove(record)
        dropped, *_ = await self.stores.kv.write(drop, unlist, *removed, events=[deleted])
        if dropped and self.room is not None:
            size, taken_at = _size_of(record), record.issued_at
            await self.room.give_back(size, taken_at=taken_at, address=caller())
        self.emit(deleted)

    async def _take_room(self, size: int) -> None:
        """Count what is about to be kept; raise TooManyRequests where no room is left."""
        if self.room is not None and size > 0:
            await self.room.take(size, address=caller())

    def _renew_secret(
        self, record: RegisteredClient, sent: str | None
    ) -> tuple[RegisteredClient, str | None]:
        """Return the record with the secret that its metadata need, and the secret if it is known.

        The secret stays the same, unless its value is needed and is no longer known.
        """
        if not self.registered.policy.needs_secret(record.metadata):
            return replace(record, secret_sha256=None, sealed_secret=None), None
        needs_value = self.registered.policy.needs_secret_value(record.metadata)
        is_lost = needs_value and sent is None and record.sealed_secret is None
        secret = token_urlsafe(SECRET_BYTES) if record.secret_sha256 is None or is_lost else sent
        if secret is None:
            return (record if needs_value else replace(record, sealed_secret=None)), None
        sealed = self.registered.seal.seal_text(secret) if needs_value else None
        secret_sha256 = sha256(secret.encode()).digest()
        return replace(record, secret_sha256=secret_sha256, sealed_secret=sealed), secret

    async def _check_sector(self, record: RegisteredClient) -> None:
        """Refuse redirect URIs that sector_identifier_uri does not list (OpenID Connect Registration §5)."""
        uri = record.metadata.get("sector_identifier_uri")
        redirect_uris = record.metadata.get("redirect_uris")
        if not isinstance(uri, str) or not isinstance(redirect_uris, list):
            return
        try:
            answer = await self.http.fetch(HttpRequest(uri))
        except Unreachable as error:
            raise errors.InvalidClientMetadata(
                "sector_identifier_uri: cannot be fetched"
            ) from error
        if answer.status != HTTPStatus.OK:
            raise errors.InvalidClientMetadata("sector_identifier_uri: the status is not 200")
        try:
            listed = msgspec.json.decode(answer.body, type=frozenset[str])
        except msgspec.MsgspecError as error:
            description = "sector_identifier_uri: the document is not a JSON array of URIs"
            raise errors.InvalidClientMetadata(description) from error
        if not listed.issuperset(cast("list[str]", redirect_uris)):
            description = "sector_identifier_uri: the document does not list all redirect_uris"
            raise errors.InvalidClientMetadata(description)


def _size_of(record: RegisteredClient) -> int:
    """Return the bytes that a client takes in Redis: its record, and a place at each of its origins."""
    origins = len(origin_digests(record))
    return len(msgspec.json.encode(record)) + OVERHEAD + origins * MARKER


def _read_secret(record: RegisteredClient, metadata: Mapping[str, object]) -> str | None:
    """Return the secret if the client sends it; it cannot choose another one (RFC 7592 §2.2)."""
    sent = metadata.get("client_secret")
    if sent is None:
        return None
    if not isinstance(sent, str) or not hmac.compare_digest(
        record.secret_sha256 or b"", sha256(sent.encode()).digest()
    ):
        raise errors.InvalidRequest("client_secret is not the one that was issued")
    return sent


def _warn_of_shared_schemes(record: RegisteredClient) -> None:
    """Log schemes that differ from a reversed domain name, so that another application may have chosen the same (RFC 8252 §7.1)."""
    for scheme in sorted(private_use_schemes(record.metadata)):
        if "." not in scheme:
            event = "a client registered a scheme that any application may claim"
            log.warning(event, client_id=record.client_id, scheme=scheme)


def _refuse_software_statement(metadata: Mapping[str, object]) -> None:
    """Refuse statements, because no issuer of them is trusted (RFC 7591 §3.2.2)."""
    statement = metadata.get("software_statement")
    if statement is None:
        return
    if not isinstance(statement, str) or not looks_like_jwt(statement):
        raise errors.InvalidSoftwareStatement("software_statement is not a JWT")
    raise errors.UnapprovedSoftwareStatement("software statements are not accepted")
