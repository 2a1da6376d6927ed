"""Tells users of CIBA requests, by a notifier or the operator's webhook, and pings clients when they are over (CIBA Core §7.3, §10.2)."""

from __future__ import annotations

import asyncio
import secrets
from http import HTTPStatus
from typing import cast

import msgspec
import orjson
import structlog
from msgspec.structs import replace

from service.ciba.request import CibaRequest
from service.clients.directory import Clients
from service.clock import clock
from service.config import plugins
from service.events.ciba import (
    CibaMessageDelivered,
    CibaMessageFailed,
    CibaMessagePostponed,
    CibaNotifierFailed,
)
from service.events.event import Emit
from service.keys.keyring import KeyRing
from service.keys.sealing import Seal, Unreadable
from service.model.backchannel import (
    BUILTIN,
    AuthenticationNotice,
    BackchannelDelivery,
    Notifier,
    message_id,
)
from service.model.client import Client
from service.model.outgoing import ClientHttp, HttpRequest, Unreachable
from service.model.request_context import current_traceparent
from service.outbox.queue import Outbox
from service.protocol.scope import format_scope
from service.store.stores import CIBA, Stores
from service.store.verbs import Command
from service.tokens.polling import StartedPolling

log = structlog.stdlib.get_logger(__name__)

NOTE_TYPE = "ciba-request+jwt"

LINGERS = 20 * 60
"""Seconds after the end of a request in which a ping may still be repeated."""

TIMEOUT = 10
"""Seconds that a notifier may take; the client waits as long for its auth_req_id."""

_LOCATION = ("ciba", "notifier")
_LATER = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
"""A client that answers so may take the message later."""


class Refused(Exception):
    """The receiver does not take the message, now or later; the text is for the log."""


class Messages(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the attempts of CIBA's outbox; a 4xx is final, as is a redirect, which is never followed."""

    issuer: str
    stores: Stores
    queue: Outbox[BackchannelDelivery]
    clients: Clients
    ring: KeyRing
    seal: Seal
    http: ClientHttp
    webhook: str | None
    wake: asyncio.Event
    emit: Emit

    def keep_ping(
        self, started: StartedPolling, asked: CibaRequest, expires_at: int
    ) -> list[Command]:
        """Return the commands that keep a ping until the request's end, if its client gets one."""
        if asked.notification_token is None:
            return []
        content = msgspec.json.encode((started.handle.text, asked.notification_token))
        ping = BackchannelDelivery(
            kind="ping",
            ref=started.place.selector,
            client_id=asked.request.client.client_id,
            expires_at=expires_at,
            sealed=self.seal.seal_text(content.decode()),
            traceparent=current_traceparent.get(),
        )
        return self._add(ping, seconds=asked.expires_in)

    def _add(self, delivery: BackchannelDelivery, *, seconds: int) -> list[Command]:
        ttl = delivery.expires_at - clock() + LINGERS
        put = self.stores.ciba_outbox.deliveries.put_new(delivery, CIBA, delivery.id, ttl=ttl)
        return [put, self.stores.ciba_outbox.queue.add(delivery.id, seconds=seconds)]

    def hurry_ping(self, ref: str, *, seconds: int = 1) -> Command:
        """Let a stored ping be due, so that another process sends it if the one that decided has died."""
        return self.stores.ciba_outbox.queue.defer(message_id("ping", ref), seconds=seconds)

    async def ping(self, ref: str) -> None:
        """Let a ping that is kept be due at once."""
        await self.stores.kv.write(self.hurry_ping(ref, seconds=0))
        self.wake.set()

    async def queue_note(self, ref: str, client_id: str, expires_at: int) -> None:
        """Queue a note to the webhook."""
        note = BackchannelDelivery(
            kind="webhook",
            ref=ref,
            client_id=client_id,
            expires_at=expires_at,
            traceparent=current_traceparent.get(),
        )
        await self.stores.kv.write(*self._add(note, seconds=0))
        self.wake.set()

    async def attempt(self, delivery: BackchannelDelivery) -> None:
        """Send a message that still says something: a ping about what is over, a note about what is not."""
        is_ping, is_over = delivery.kind == "ping", await self._is_over(delivery)
        if is_ping and not is_over:
            await self.queue.give_back(delivery, seconds=delivery.expires_at - clock())
            return
        client = await self.clients.find(delivery.client_id)
        uri = self.find_uri(delivery, client)
        if client is None or not client.enabled or uri is None or is_over is not is_ping:
            await self.queue.remove(delivery.id)
            return
        try:
            await self._send(delivery, client, uri)
        except (Unreachable, Refused) as error:
            await self._fail(delivery, str(error), is_final=isinstance(error, Refused))
            return
        self.emit(
            CibaMessageDelivered(
                client_id=delivery.client_id,
                kind=delivery.kind,
                auth_req_ref=delivery.ref,
                attempts=delivery.failures + 1,
            )
        )
        await self.queue.remove(delivery.id)

    def find_uri(self, delivery: BackchannelDelivery, client: Client | None) -> str | None:
        """Return the place that a message goes to; None if it was removed from the configuration."""
        if delivery.kind == "webhook":
            return self.webhook
        return client.backchannel_client_notification_endpoint if client else None

    async def _is_over(self, delivery: BackchannelDelivery) -> bool:
        """Return whether the user has answered the request, or it has expired."""
        kv, stores = self.stores.kv, self.stores
        (shown,) = await kv.read(stores.backchannel_requests.read(delivery.ref))
        if shown is None or delivery.expires_at <= clock():
            return True
        return await kv.read(stores.decisions.read(delivery.ref, shown.digest)) != (None,)

    async def _send(self, delivery: BackchannelDelivery, client: Client, uri: str) -> None:
        """Raise Unreachable if another attempt may succeed, Refused if none will."""
        if delivery.kind == "ping":
            answer = await self.http.choose(client).fetch(self._open_ping(delivery, uri))
        else:
            answer = await self.http.free.fetch(await self._make_note(delivery, uri))
        if answer.status // 100 == 2:  # noqa: PLR2004 - all of them are a success
            return
        cause = f"status {answer.status}"
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status in _LATER:
            raise Unreachable(cause)
        raise Refused(cause)

    def _open_ping(self, delivery: BackchannelDelivery, uri: str) -> HttpRequest:
        """Return a ping (CIBA Core §10.2)."""
        try:
            content = self.seal.open_text(delivery.sealed)
        except Unreadable as error:
            raise Refused("it cannot be decrypted") from error
        auth_req_id, token = msgspec.json.decode(content, type=tuple[str, str])
        body = orjson.dumps({"auth_req_id": auth_req_id})
        headers = {"Content-Type": "application/json"}
        return HttpRequest(uri, body, headers, f"Bearer {token}", reads_answer=False)

    async def _make_note(self, delivery: BackchannelDelivery, uri: str) -> HttpRequest:
        """Return a note about a request, signed as ID tokens are; nothing in it can poll for tokens."""
        (shown,) = await self.stores.kv.read(self.stores.backchannel_requests.read(delivery.ref))
        if shown is None:
            raise Refused("the request is over")
        claims: dict[str, object] = {
            "iss": self.issuer,
            "aud": uri,
            "iat": clock(),
            "exp": delivery.expires_at,
            "jti": secrets.token_urlsafe(16),
            "auth_req_ref": delivery.ref,
            "sub": shown.subject,
            "client_id": delivery.client_id,
            "scope": format_scope(shown.scope),
        }
        if shown.binding_message is not None:
            claims["binding_message"] = shown.binding_message
        note = await self.ring.signing_key(None).sign(claims, typ=NOTE_TYPE)
        headers = {"Content-Type": "application/jwt"}
        return HttpRequest(uri, note.encode(), headers, reads_answer=False)

    async def _fail(self, delivery: BackchannelDelivery, cause: str, *, is_final: bool) -> None:
        failed = replace(delivery, failures=delivery.failures + 1, cause=cause)
        is_repeated = not is_final and await self.queue.retry_later(failed)
        kind = CibaMessagePostponed if is_repeated else CibaMessageFailed
        self.emit(
            kind(
                client_id=failed.client_id,
                kind=failed.kind,
                auth_req_ref=failed.ref,
                attempts=failed.failures,
                cause=cause,
            )
        )
        if is_final:
            await self.queue.bury(failed)


class BuiltinNotifier(msgspec.Struct, frozen=True):
    """Queues a note to the webhook, if there is one; the page lists every request anyway."""

    messages: Messages

    async def notify(self, notice: AuthenticationNotice) -> None:
        if self.messages.webhook is not None:
            await self.messages.queue_note(notice.auth_req_ref, notice.client_id, notice.expires_at)


def open_notifier(name: str, messages: Messages) -> Notifier:
    """Return the built-in notifier, or the operator's own, made once without arguments; CannotServe if that fails."""
    if name == BUILTIN:
        return BuiltinNotifier(messages)
    return cast("Notifier", plugins.make_plugin(name, _LOCATION, plugins.NOTIFIER))


class SafeNotifier(msgspec.Struct, frozen=True):
    notifier: Notifier
    emit: Emit

    async def notify(self, notice: AuthenticationNotice) -> None:
        """Tell the user; a failure is an event, because the request waits at its page in any case."""
        try:
            async with asyncio.timeout(TIMEOUT):
                await self.notifier.notify(notice)
        except Exception as error:
            log.exception("the CIBA notifier failed", client_id=notice.client_id)
            cause = plugins.name_exception(error)
            ref = notice.auth_req_ref
            self.emit(CibaNotifierFailed(client_id=notice.client_id, auth_req_ref=ref, cause=cause))
