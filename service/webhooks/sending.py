"""Sends events to webhooks, and decides what becomes of one that was not accepted (Standard Webhooks)."""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from http import HTTPStatus

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
from service.model.outgoing import HttpBody, HttpClient, Unreachable
from service.model.webhook import Webhook, WebhookDelivery, webhook_id
from service.outbox.delivering import Place
from service.outbox.queue import Outbox, spread
from service.webhooks.queueing import without_personal

CONTENT_TYPE = "application/cloudevents+json"

PAUSES = (5, 30, 120, 300, 600, 1200, 1800, 3600)
"""Seconds after each failed attempt, give or take a quarter; the last one is repeated."""

GIVEN_UP_AFTER = 86_400
"""Seconds after an event in which it is attempted."""

GONE_FOR = 3600
"""Seconds without a request after a 410."""

UNKNOWN = "no webhook of the configuration has its URL"


def sign(secrets: Sequence[bytes], event_id: str, timestamp: int, body: str) -> str:
    """Return the value of `webhook-signature`: one signature for each secret."""
    signed = f"{event_id}.{timestamp}.{body}".encode()
    signatures = [b64encode(hmac.digest(secret, signed, sha256)).decode() for secret in secrets]
    return " ".join(f"v1,{signature}" for signature in signatures)


def find_by_id(webhooks: Sequence[Webhook]) -> Mapping[str, Webhook]:
    """Return webhooks by the names of their URLs in the store, also by those of former URLs."""
    former = {webhook_id(url): one for one in webhooks for url in one.replaces}
    return former | {one.id: one for one in webhooks}


class WebhookSender(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the attempts of the webhooks' outbox.

    Every answer but a 2xx is a failure, a redirect as well; bodies of answers are not read. A webhook that answers 410 gets
    no request for an hour from this process: its events wait, as for one that is down.
    """

    queue: Outbox[WebhookDelivery]
    webhooks: Mapping[str, Webhook]
    http: HttpClient
    emit: Emit
    _gone_until: dict[str, int] = msgspec.field(default_factory=dict[str, int])

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
        rest = self._gone_until.get(webhook.id, 0) - clock()
        if rest > 0:
            await self._wait(delivery, rest, f"status {HTTPStatus.GONE.value}")
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
        body = delivery.event if webhook.personal else without_personal(delivery.event)
        now = clock()
        headers = {
            "webhook-id": delivery.event_id,
            "webhook-timestamp": str(now),
            "webhook-signature": sign(webhook.secrets, delivery.event_id, now, body),
        }
        try:
            answer = await self.http.fetch(
                webhook.url, HttpBody(CONTENT_TYPE, body.encode(), headers)
            )
        except Unreachable as error:
            return str(error)
        if answer.status == HTTPStatus.GONE:
            self._gone_until[webhook.id] = now + GONE_FOR
            self.emit(WebhookGone(webhook=webhook.host))
        return None if answer.status // 100 == 2 else f"status {answer.status}"  # noqa: PLR2004

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
        pause = PAUSES[min(failed.failures, len(PAUSES)) - 1]
        await self.queue.give_back(failed, seconds=spread(pause))
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
