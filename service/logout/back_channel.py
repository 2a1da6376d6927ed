"""Sends a logout token to a client whose session has ended (OpenID Connect Back-Channel Logout §2.4, §2.5)."""

from __future__ import annotations

import secrets

import msgspec
from msgspec.structs import replace

from service.clock import clock
from service.events.event import Emit
from service.events.users import (
    BackChannelLogoutDelivered,
    BackChannelLogoutFailed,
    BackChannelLogoutPostponed,
)
from service.model.client import Client
from service.model.outgoing import ClientHttp, HttpRequest, Unreachable
from service.model.session import LogoutDelivery
from service.outbox.queue import Outbox
from service.protocol.errors import OAuthError
from service.tokens.id_token import IdTokens

LOGOUT_TOKEN_TYPE = "logout+jwt"
LIFETIME = 120
"""Seconds; the most that the specification recommends (OIDC Back-Channel Logout §4)."""

_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_SUCCESSES = frozenset({200, 204})
"""Some frameworks make a 204 of an empty 200 (OIDC Back-Channel Logout §2.8)."""


class BackChannel(msgspec.Struct, frozen=True, kw_only=True):
    """Makes an attempt, and decides whether there is to be another.

    A 400 is tried again like anything else: the client's own store may be away, or the client has
    not seen our newest key yet; the next attempt has a new token (§2.8).
    """

    queue: Outbox[LogoutDelivery]
    id_tokens: IdTokens
    """Knows the names and keys that a logout token shares with an ID token (§2.4)."""
    http: ClientHttp
    emit: Emit

    async def attempt(self, delivery: LogoutDelivery) -> None:
        """Send the client a token, unless it is gone or disabled, or has no logout URI any more, or needs a session that there was not (§2.2)."""
        client = await self.id_tokens.clients.find(delivery.client_id)
        uri = client.backchannel_logout_uri if client is not None and client.enabled else None
        if client is None or uri is None or _needs_session(delivery, client):
            await self.queue.remove(delivery.id)
            return
        cause = await self._post_token(delivery, client, uri)
        if cause is not None:
            await self._fail(delivery, cause)
            return
        self.emit(
            BackChannelLogoutDelivered(
                client_id=delivery.client_id,
                session_id=delivery.session_id or None,
                attempts=delivery.failures + 1,
            )
        )
        await self.queue.remove(delivery.id)

    async def _post_token(self, delivery: LogoutDelivery, client: Client, uri: str) -> str | None:
        """Return the cause of the failure; None if the client has accepted the token."""
        try:
            token = await self._mint(delivery, client)
            request = HttpRequest(uri, {"logout_token": token}, reads_answer=False)
            answer = await self.http.choose(client).fetch(request)
        except Unreachable as error:
            return str(error)
        except OAuthError as error:
            return error.description
        return None if answer.status in _SUCCESSES else f"status {answer.status}"

    async def _mint(self, delivery: LogoutDelivery, client: Client) -> str:
        """Return the signed token; an ID token never has `events` (OIDC Back-Channel Logout §4.1)."""
        now = clock()
        claims: dict[str, object] = {
            "iss": self.id_tokens.issuer,
            "sub": self.id_tokens.identifiers.find_sub(client, delivery.subject),
            "aud": client.client_id,
            "iat": now,
            "exp": now + LIFETIME,
            "jti": secrets.token_urlsafe(16),
            "events": {_EVENT: {}},
        }
        if delivery.session_id:
            claims["sid"] = delivery.session_id
        key = self.id_tokens.keys.signing_key(client, client.id_token_signed_response_alg)
        return await key.sign(claims, typ=LOGOUT_TOKEN_TYPE)

    async def _fail(self, delivery: LogoutDelivery, cause: str) -> None:
        """Try again later; after the last attempt only the audit log knows."""
        failed = replace(delivery, failures=delivery.failures + 1, cause=cause)
        is_repeated = await self.queue.retry_later(failed)
        kind = BackChannelLogoutPostponed if is_repeated else BackChannelLogoutFailed
        self.emit(
            kind(
                client_id=delivery.client_id,
                session_id=delivery.session_id or None,
                attempts=failed.failures,
                cause=cause,
            )
        )


def _needs_session(delivery: LogoutDelivery, client: Client) -> bool:
    return client.backchannel_logout_session_required and not delivery.session_id
