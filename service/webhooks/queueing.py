"""Queues the events that webhooks want, before the answer to the request that has caused them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Never, cast

import msgspec
import structlog

from service.clock import clock
from service.events.event import PERSONAL, Emit, Event, event_name
from service.events.webhooks import WebhookRefusal, WebhookRefused
from service.model.handle import digest
from service.model.request_context import current_traceparent, request_id
from service.model.webhook import Webhook, WebhookDelivery
from service.store.keyvalue import StoreUnavailable
from service.store.stores import EVENT_LIFETIME, WEBHOOKS, Stores
from service.store.verbs import STEP, Command
from service.webhooks.kinds import find_wanted

log = structlog.stdlib.get_logger(__name__)

MAX_PENDING = 10_000
"""Deliveries that a process keeps while Redis does not take them."""

MAX_PENDING_BYTES = 16 << 20
"""Bytes that the events of these may have."""

MAX_WRITTEN = 1000
"""Events that were written with their change, and are not emitted yet."""

AGAIN = 1
"""Seconds until Redis is asked again."""

LONGEST = 65_536
"""Bytes of an event; a longer one goes without its lists."""

_encode = msgspec.json.Encoder(order="deterministic", enc_hook=str).encode
_decode = msgspec.json.Decoder(dict[str, object]).decode


class EventQueue:
    """An `Emit` for events that webhooks want; others cost one look-up.

    A request is answered after its events are in Redis (`settle`); an event that is known before its change is written
    goes there with it (`write`). While Redis is unavailable, events wait in this process.
    """

    def __init__(
        self, *, issuer: str, stores: Stores, webhooks: Sequence[Webhook], emit: Emit
    ) -> None:
        """Take the webhooks, and what emits that an event was refused."""
        self._issuer, self._stores, self._emit = issuer, stores, emit
        self._wanted: dict[type[Event], tuple[Webhook, ...]] = {}
        for webhook in webhooks:
            for kind in find_wanted(webhook.kinds):
                self._wanted[kind] = (*self._wanted.get(kind, ()), webhook)
        self.pending: list[WebhookDelivery] = []
        """Those that Redis has not got yet."""
        self._pending_bytes = 0
        self._written: dict[int, Event] = {}
        self._writing = asyncio.Lock()
        self._noted = asyncio.Event()
        self.queued = asyncio.Event()
        """Set when an event was queued here, so that it is delivered."""

    @property
    def wants_answers_at_once(self) -> bool:
        """Whether a webhook wants events of requests that are answered without waiting for anything."""
        return any(kind.level == "debug" for kind in self._wanted)

    def note(self, event: Event) -> None:
        """Let an event be queued soon, unless it was written with its change."""
        webhooks = self._wanted.get(type(event))
        if webhooks is None or self._written.pop(id(event), None) is event:
            return
        self._keep(self._make(event, webhooks))

    async def settle(self) -> None:
        """Queue what is pending, before a request is answered; return at once if Redis does not answer."""
        if self.pending and not self._stores.kv.seconds_away:
            try:
                await self.flush()
            except StoreUnavailable:
                log.warning("events wait for the store", events=len(self.pending))

    async def flush(self) -> None:
        """Queue what waits; raise StoreUnavailable if Redis does not take it, and try again later."""
        async with self._writing:
            while self.pending:
                some = self.pending[:STEP]
                answers = await self._stores.kv.write(*map(self._append, some), durable=True)
                del self.pending[: len(some)]
                self._pending_bytes -= sum(one.size for one in some)
                self._judge(some, answers)

    async def run(self) -> Never:
        """Queue what is noted outside of requests, and what Redis did not take, as long as the process runs."""
        while True:
            await self._noted.wait()
            self._noted.clear()
            try:
                await self.flush()
            except StoreUnavailable:
                await asyncio.sleep(AGAIN)
                self._noted.set()
            except Exception:
                log.exception("events cannot be queued")
                await asyncio.sleep(AGAIN)
                self._noted.set()

    async def close(self) -> None:
        """Queue the last events; those that Redis does not take are lost with the process."""
        try:
            await self.flush()
        except StoreUnavailable:
            log.warning(
                "events are lost, because the store is unavailable", events=len(self.pending)
            )

    async def write(
        self, events: Sequence[Event], writes: Sequence[Command], *, durable: bool
    ) -> list[Any]:
        """Write a change and its events in one round trip, the events first; return the answers for the change.

        So an event is there whenever the change is, or in this process if it was not taken; it is not queued again when it is emitted.
        """
        deliveries = [
            delivery
            for event in events
            if type(event) in self._wanted
            for delivery in self._make(event, self._wanted[type(event)])
        ]
        if deliveries:
            await self.settle()  # what was emitted before comes first
        commands = [self._append(delivery) for delivery in deliveries]
        try:
            answers = await self._stores.kv.write(*commands, *writes, durable=durable)
        except StoreUnavailable:
            # The change may be there without its events: a full Redis deletes and adds nothing, and in a Cluster one server may fail alone.
            self._keep(deliveries)
            raise
        if deliveries:
            self._judge(deliveries, answers)
            self._written |= {id(one): one for one in events if type(one) in self._wanted}
            while len(self._written) > MAX_WRITTEN:
                del self._written[next(iter(self._written))]
        return answers[len(commands) :]

    def _keep(self, deliveries: Iterable[WebhookDelivery]) -> None:
        """Let deliveries be queued soon, as many as this process may hold."""
        for delivery in deliveries:
            held = self._pending_bytes + delivery.size
            if len(self.pending) < MAX_PENDING and held <= MAX_PENDING_BYTES:
                self.pending.append(delivery)
                self._pending_bytes = held
            else:
                self._refuse(delivery, "store_unavailable")
        self._noted.set()

    def _append(self, delivery: WebhookDelivery) -> Command:
        put = self._stores.webhook_outbox.deliveries.put(
            delivery, WEBHOOKS, delivery.id, ttl=EVENT_LIFETIME
        )
        return self._stores.webhook_outbox.queue.append(delivery.id, put)

    def _judge(self, deliveries: Sequence[WebhookDelivery], answers: Sequence[object]) -> None:
        for delivery, queued in zip(deliveries, answers, strict=False):
            if not queued:
                self._refuse(delivery, "full")
        self.queued.set()

    def _refuse(self, delivery: WebhookDelivery, reason: WebhookRefusal) -> None:
        self._emit(WebhookRefused(webhook=delivery.host, kind=delivery.kind, reason=reason))

    def _make(self, event: Event, webhooks: Sequence[Webhook]) -> list[WebhookDelivery]:
        kind, event_id = event_name(type(event)), f"msg_{secrets.token_urlsafe(16)}"
        members = _decode(_encode(event))
        subject, client_id = members.get("subject"), members.get("client_id")
        ordered = digest(str(subject or client_id or kind))[:22]
        head = self._make_head(kind, event_id, subject)
        encoded = [encode_event(head, members, personal=one.personal) for one in webhooks]
        return [
            WebhookDelivery(
                id=f"{webhook.id}.{ordered}.{len(body)}.{event_id}",
                kind=kind,
                host=webhook.host,
                subject=None if subject is None else str(subject),
                created_at=clock(),
                event=body.decode(),
                traceparent=current_traceparent.get(),
            )
            for webhook, body in zip(webhooks, encoded, strict=True)
        ]

    def _make_head(self, kind: str, event_id: str, subject: object) -> dict[str, object]:
        """Return the context attributes (CloudEvents §3.1, and its extension for distributed tracing)."""
        optional = {
            "subject": subject or None,
            "requestid": request_id(),
            "traceparent": current_traceparent.get(),
        }
        return {
            "specversion": "1.0",
            "id": event_id,
            "source": self._issuer,
            "type": kind,
            "time": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "datacontenttype": "application/json",
            **{name: value for name, value in optional.items() if value is not None},
        }


def encode_event(
    head: Mapping[str, object], members: Mapping[str, object], *, personal: bool
) -> bytes:
    """Return a CloudEvent as JSON (structured mode)."""
    shown = {name: value for name, value in members.items() if personal or name not in PERSONAL}
    encoded: bytes = _encode({**head, "data": shown})
    if len(encoded) > LONGEST:
        short = {name: value for name, value in shown.items() if not isinstance(value, list)}
        encoded = _encode({**head, "data": {**short, "shortened": True}})
    return encoded


def without_personal(event: bytes) -> bytes:
    """Return a CloudEvent without names and addresses of people."""
    head = _decode(event)
    members = cast("dict[str, object]", head.pop("data"))
    if PERSONAL.isdisjoint(members):
        return event
    return encode_event(head, members, personal=False)
