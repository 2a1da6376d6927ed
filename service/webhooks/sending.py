"""Sends events to webhooks, and decides what becomes of one that was not accepted (Standard Webhooks)."""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from http import HTTPStatus
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from service.clock import clock
from service.events.event import Emit
from service.events.webhooks import (
    WebhookDelivered,
    WebhookFailed,
    WebhookGone,
    WebhookPostponed,
)
from service.model.outgoing import HttpAnswer, HttpClient, HttpRequest, Unreachable
from service.model.webhook import Webhook, WebhookDelivery, webhook_id
from service.outbox.delivering import Place
from service.outbox.queue import Outbox, spread
from service.protocol.http_headers import read_retry_after
from service.webhooks.queueing import without_personal

CONTENT_TYPE = "application/cloudevents+json"

PAUSES = (5, 30, 120, 300, 600, 1200, 1800, 3600)
"""Seconds after each failed attempt, give or take a quarter; the last one is repeated."""

GIVEN_UP_AFTER = 86_400
"""Seconds after an event in which it is attempted."""

GONE_FOR = LONGEST_REST = 3600
"""Seconds without a request after a 410, and at most after a Retry-After."""

RESTS = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""The answers whose Retry-After counts (RFC 6585 §4, RFC 9110 §15.6.4)."""

UNKNOWN = "no webhook of the configuration has its URL"


def sign(secrets: Sequence[bytes], event_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of `webhook-signature`: one signature for each secret."""
    signed = f"{event_id}.{timestamp}.".encode() + body
    signatures = [b64encode(hmac.digest(secret, signed, sha256)).decode() for secret in secrets]
    return " ".join(f"v1,{signature}" for signature in signatures)


def find_by_id(webhooks: Sequence[Webhook]) -> Mapping[str, Webhook]:
    """Return webhooks by the names of their URLs in the store, also by those of former URLs."""
    former = {webhook_id(url): one for one in webhooks for url in one.replaces}
    return former | {one.id: one for one in webhooks}


def _find_rest(answer: HttpAnswer) -> int:
    """Return the seconds for which the webhook is to get no request, by its answer."""
    if answer.status == HTTPStatus.GONE:
        return GONE_FOR
    if answer.status not in RESTS:
        return 0
    asked = read_retry_after(answer.headers.get("Retry-After", ""), now=clock())
    return min(asked or 0, LONGEST_REST)


class Rest(NamedTuple):
    """A time without requests to a webhook, and the answer that asked for it."""

    until: int
    cause: str


class WebhookSender(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the attempts of the webhooks' outbox.

    Every answer but a 2xx is a failure, a redirect as well; bodies of answers are not read. A webhook that answers 410, or
    asks for a rest by Retry-After, gets no request in that time from this process: its events wait, as for one that is down.
    Only what an operator tries again is sent at once.
    """

    queue: Outbox[WebhookDelivery]
    webhooks: Mapping[str, Webhook]
    http: HttpClient
    emit: Emit
    _rests: dict[str, Rest] = msgspec.field(default_factory=dict[str, Rest])
    """The last one of each webhook, by its id."""

    async def find_place(self, delivery: WebhookDelivery) -> Place:
        webhook = self.webhooks.get(delivery.webhook)
        return Place(delivery.host if webhook is None else webhook.host)

    async def attempt(self, delivery: WebhookDelivery) -> None:
        """Send an event, unless its webhook gets none at present."""
        webhook = self.webhooks.get(delivery.webhook)
        if webhook is None:
            # A replica with a newer configuration may know it; the rests grow with the event's age.
            await self._wait(delivery, 15 + (clock() - delivery.created_at) // 4, UNKNOWN)
            return
        rest = None if delivery.is_retried else self._rests.get(webhook.id)
        if rest is not None and rest.until > clock():
            await self._wait(delivery, rest.until - clock(), rest.cause)
            return
        cause = await self._send(delivery, webhook)
        if cause is not None:
            await self._fail(delivery, webhook, cause)
            return
        self.emit(
            WebhookDelivered(
                webhook=webhook.host,
                kind=delivery.kind,
                event_id=delivery.event_id,
                attempts=delivery.failures + 1,
            )
        )
        await self.queue.remove(delivery.id)

    async def _send(self, delivery: WebhookDelivery, webhook: Webhook) -> str | None:
        """Return the cause of the failure; None if the webhook has accepted the event."""
        event = delivery.event.encode()
        body = event if webhook.personal else without_personal(event)
        now = clock()
        headers = {
            "Content-Type": CONTENT_TYPE,
            "webhook-id": delivery.event_id,
            "webhook-timestamp": str(now),
            "webhook-signature": sign(webhook.secrets, delivery.event_id, now, body),
        }
        try:
            request = HttpRequest(webhook.url, body, headers, reads_answer=False)
            answer = await self.http.fetch(request)
        except Unreachable as error:
            return str(error)
        if answer.status // 100 == 2:  # noqa: PLR2004
            return None
        cause = f"status {answer.status}"
        seconds = _find_rest(answer)
        if seconds:
            self._rests[webhook.id] = Rest(clock() + seconds, cause)
        if answer.status == HTTPStatus.GONE:
            self.emit(WebhookGone(webhook=webhook.host))
        return cause

    async def _wait(self, delivery: WebhookDelivery, seconds: int, cause: str) -> None:
        """Let a delivery wait without an attempt, or bury it after its day."""
        if self._is_too_old(delivery):
            await self._bury(replace(delivery, cause=cause), delivery.host)
            return
        await self.queue.give_back(delivery, seconds=seconds)

    async def _fail(self, delivery: WebhookDelivery, webhook: Webhook, cause: str) -> None:
        failed = replace(delivery, failures=delivery.failures + 1, cause=cause)
        if self._is_too_old(failed):
            await self._bury(failed, webhook.host)
            return
        pause = spread(PAUSES[min(failed.failures, len(PAUSES)) - 1])
        rest = self._rests.get(webhook.id)
        seconds = pause if rest is None else max(pause, rest.until - clock())
        await self.queue.give_back(failed, seconds=seconds)
        self.emit(
            WebhookPostponed(
                webhook=webhook.host,
                kind=failed.kind,
                event_id=failed.event_id,
                attempts=failed.failures,
                cause=cause,
            )
        )

    async def _bury(self, failed: WebhookDelivery, host: str) -> None:
        await self.queue.bury(failed)
        self.emit(
            WebhookFailed(
                webhook=host,
                kind=failed.kind,
                event_id=failed.event_id,
                attempts=failed.failures,
                cause=failed.cause or "",
            )
        )

    def _is_too_old(self, delivery: WebhookDelivery) -> bool:
        return clock() - delivery.created_at >= GIVEN_UP_AFTER
