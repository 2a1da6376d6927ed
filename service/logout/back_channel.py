"""Telling one client that a session has ended, once more or for the last time (OpenID Connect Back-Channel Logout §2.5)."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from service.clients.client_http import ClientHttp
from service.clients.directory import Clients
from service.logout.logout_token import LogoutTokens
from service.logout.queue import LogoutQueue
from service.model.client import Client
from service.model.events import (
    BackChannelLogoutDelivered,
    BackChannelLogoutFailed,
    BackChannelLogoutPostponed,
    Emit,
)
from service.model.outgoing import Unreachable
from service.model.session import LogoutDelivery
from service.protocol.errors import OAuthError

PAUSES = (5, 15, 45, 120, 240)
"""Seconds after each attempt but the last, give or take a quarter: six attempts in seven minutes."""

_UNDERSTOOD = frozenset({200, 204})
"""Some frameworks make a 204 of an empty 200 (OIDC Back-Channel Logout §2.8)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackChannel:
    """Makes an attempt, and decides whether there is to be another.

    A 400 is tried again like anything else: it may say that the client's own store was away, or
    that it has not seen our newest key yet, and the next token is another one (§2.8).
    """

    queue: LogoutQueue
    clients: Clients
    tokens: LogoutTokens
    http: ClientHttp
    emit: Emit
    now: Callable[[], int]

    async def attempt(self, delivery: LogoutDelivery) -> None:
        """Tell the client, if it is there and wants to be told."""
        client = await self.clients.find(delivery.client_id)
        if client is None or not client.enabled or client.backchannel_logout_uri is None:
            await self.queue.done(delivery)
            return
        cause = await self._cause_of_failure(delivery, client, client.backchannel_logout_uri)
        if cause is not None:
            await self._failed(delivery, cause)
            return
        self.emit(
            BackChannelLogoutDelivered(
                client_id=delivery.client_id,
                session_id=delivery.session_id,
                attempts=delivery.failures + 1,
            )
        )
        await self.queue.done(delivery)

    async def _cause_of_failure(
        self, delivery: LogoutDelivery, client: Client, uri: str
    ) -> str | None:
        """Post a new token; why the client has not understood, or None where it has."""
        try:
            token = await self.tokens.mint(delivery, client, now=self.now())
            answer = await self.http.choose(client).fetch(uri, {"logout_token": token})
        except Unreachable as error:
            return str(error)
        except OAuthError as error:
            return error.description
        return None if answer.status in _UNDERSTOOD else f"status {answer.status}"

    async def _failed(self, delivery: LogoutDelivery, cause: str) -> None:
        """Try again later; the last time, leave it to the audit log."""
        attempts = delivery.failures + 1
        kind: type[BackChannelLogoutPostponed | BackChannelLogoutFailed]
        if attempts <= len(PAUSES):
            kind = BackChannelLogoutPostponed
            await self.queue.postpone(delivery, seconds=_varied(PAUSES[delivery.failures]))
        else:
            kind = BackChannelLogoutFailed
            await self.queue.done(delivery)
        self.emit(
            kind(
                client_id=delivery.client_id,
                session_id=delivery.session_id,
                attempts=attempts,
                cause=cause,
            )
        )


def _varied(seconds: int) -> int:
    """A quarter less to a quarter more, so that what failed together is not tried together."""
    quarter = seconds // 4
    return seconds - quarter + secrets.randbelow(2 * quarter + 1)
