"""Clients register, read, change and delete themselves (RFC 7591 §3, RFC 7592 §2)."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import cast

from service.clients.origins import RegisteredOrigins
from service.clients.registration.metadata import RegistrationPolicy
from service.clients.registration.sector import check_sector
from service.keys.jose import looks_like_jwt
from service.keys.sealing import Seal
from service.model.events import ClientDeleted, ClientRegistered, ClientUpdated, Emit
from service.model.handle import new_handle, parse_handle
from service.model.outgoing import HttpClient
from service.model.registered_client import RegisteredClient, new_client_id, selector_of
from service.protocol.errors import (
    InvalidRequest,
    InvalidSoftwareStatement,
    InvalidToken,
    UnapprovedSoftwareStatement,
)
from service.store.stores import Stores
from service.store.verbs import Command

SECRET_BYTES = 48
"""Random bytes of a secret; the 64 characters that they make are enough for HS512 (RFC 7518 §3.2)."""

_NOT_FOR_CLIENTS = (
    "registration_access_token",
    "registration_client_uri",
    "client_secret_expires_at",
    "client_id_issued_at",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A registration as its client may see it; the store knows neither token nor secret."""

    record: RegisteredClient
    access_token: str = field(repr=False)
    secret: str | None = field(repr=False)
    """The client's secret, where it is new or the client has just shown it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRegistration:
    """Keeps what clients register, and knows them again by their registration access tokens."""

    policy: RegistrationPolicy
    stores: Stores
    origins: RegisteredOrigins
    seal: Seal
    http: HttpClient
    """That only reaches what the address policy allows."""
    lifetime: int | None
    now: Callable[[], int]
    emit: Emit

    async def register(self, asked: Mapping[str, object]) -> Registered:
        """A client that was not there before (RFC 7591 §3.1)."""
        _refuse_software_statement(asked)
        client_id, now = new_client_id(), self.now()
        selector = str(selector_of(client_id))
        token = new_handle("registration_access_token", selector)
        record = RegisteredClient(
            client_id=client_id,
            issued_at=now,
            expires_at=None if self.lifetime is None else now + self.lifetime,
            metadata=self.policy.accept(asked),
            access_token_digest=token.digest,
            secret_sha256=None,
            sealed_secret=None,
        )
        secret = (
            secrets.token_urlsafe(SECRET_BYTES)
            if self.policy.needs_secret(record.metadata)
            else None
        )
        record = self._with_secret(record, secret)
        await self._check_sector(record)
        await self.stores.kv.write(self._put(record, selector))
        await self.origins.note(record)
        self.emit(ClientRegistered(client_id=client_id))
        return Registered(record=record, access_token=token.text, secret=secret)

    async def authorized(self, client_id: str, token: str) -> RegisteredClient:
        """The client's record, if this is its registration access token (RFC 7592 §2)."""
        handle, selector = parse_handle(token, "registration_access_token"), selector_of(client_id)
        if handle is not None and handle.selector == selector:
            read = self.stores.registered_clients.read(handle.selector)
            (record,) = await self.stores.kv.read(read)
            if record and hmac.compare_digest(record.access_token_digest, handle.digest):
                return record
        raise InvalidToken("the registration access token is not this client's")

    async def update(
        self, record: RegisteredClient, asked: Mapping[str, object], *, access_token: str
    ) -> Registered:
        """Put other metadata in place of all that there were (RFC 7592 §2.2)."""
        _check_members(record, asked)
        _refuse_software_statement(asked)
        shown = _shown_secret(record, asked)
        changed = replace(record, metadata=self.policy.accept(asked))
        changed, secret = self._renewed(changed, shown)
        await self._check_sector(changed)
        rewrite = self.stores.registered_clients.rewrite(
            changed, str(selector_of(record.client_id))
        )
        rewritten, *_ = await self.stores.kv.write(rewrite, *self.origins.forget(record))
        if not rewritten:
            raise InvalidToken("the client was deleted meanwhile")
        await self.origins.note(changed)
        self.emit(ClientUpdated(client_id=record.client_id))
        return Registered(record=changed, access_token=access_token, secret=secret)

    async def delete(self, record: RegisteredClient) -> None:
        """The client is unknown from now on, and its tokens are inactive (RFC 7592 §2.3)."""
        drop = self.stores.registered_clients.drop(str(selector_of(record.client_id)))
        await self.stores.kv.write(drop, *self.origins.forget(record))
        self.emit(ClientDeleted(client_id=record.client_id))

    def _put(self, record: RegisteredClient, selector: str) -> Command:
        if self.lifetime is None:
            return self.stores.registered_clients.put_lasting(record, selector)
        return self.stores.registered_clients.put(record, selector, ttl=self.lifetime)

    def _with_secret(self, record: RegisteredClient, secret: str | None) -> RegisteredClient:
        """The record with a secret's hash, and its value only where an algorithm computes with it."""
        if secret is None:
            return replace(record, secret_sha256=None, sealed_secret=None)
        sealed = (
            self.seal.seal_text(secret) if self.policy.needs_secret_value(record.metadata) else None
        )
        digest = sha256(secret.encode()).digest()
        return replace(record, secret_sha256=digest, sealed_secret=sealed)

    def _renewed(
        self, record: RegisteredClient, shown: str | None
    ) -> tuple[RegisteredClient, str | None]:
        """The record with the secret that its metadata need, and the secret where it can be told.

        It stays the same, unless its value is needed and nobody knows it any more.
        """
        if not self.policy.needs_secret(record.metadata):
            return self._with_secret(record, None), None
        needs_value = self.policy.needs_secret_value(record.metadata)
        unknown = needs_value and shown is None and record.sealed_secret is None
        if record.secret_sha256 is None or unknown:
            shown = secrets.token_urlsafe(SECRET_BYTES)
        if shown is not None:
            return self._with_secret(record, shown), shown
        return (record if needs_value else replace(record, sealed_secret=None)), None

    async def _check_sector(self, record: RegisteredClient) -> None:
        uri, redirect_uris = (
            record.metadata.get(name) for name in ("sector_identifier_uri", "redirect_uris")
        )
        if isinstance(uri, str) and isinstance(redirect_uris, list):
            await check_sector(uri, cast("list[str]", redirect_uris), self.http)


def _check_members(record: RegisteredClient, asked: Mapping[str, object]) -> None:
    """A client says which one it is, and leaves to the service what is the service's (RFC 7592 §2.2)."""
    if asked.get("client_id") != record.client_id:
        raise InvalidRequest("client_id is missing, or is not that of the client")
    for name in _NOT_FOR_CLIENTS:
        if name in asked:
            raise InvalidRequest(f"{name} must not be sent")


def _shown_secret(record: RegisteredClient, asked: Mapping[str, object]) -> str | None:
    """The secret, if the client sends it along: it cannot choose another one (RFC 7592 §2.2)."""
    shown = asked.get("client_secret")
    if shown is None:
        return None
    digest = sha256(shown.encode()).digest() if isinstance(shown, str) else b""
    if not isinstance(shown, str) or not hmac.compare_digest(record.secret_sha256 or b"", digest):
        raise InvalidRequest("client_secret is not the one that was issued")
    return shown


def _refuse_software_statement(asked: Mapping[str, object]) -> None:
    """There is nobody whose statements are trusted here (RFC 7591 §3.2.2)."""
    statement = asked.get("software_statement")
    if statement is None:
        return
    if not isinstance(statement, str) or not looks_like_jwt(statement):
        raise InvalidSoftwareStatement("software_statement is not a JWT")
    raise UnapprovedSoftwareStatement("software statements are not accepted")
