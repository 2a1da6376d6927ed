"""Events of webhooks, which are never sent to webhooks."""

from __future__ import annotations

from typing import Literal

from service.events.event import Event, EventCounter

WebhookRefusal = Literal["full", "store_unavailable"]


class WebhookDelivered(Event, frozen=True, kw_only=True):
    """A webhook accepted an event; `webhook` is the host of its URL."""

    level = "debug"
    webhooks = "never"
    counter = EventCounter("webhooks_delivered", "Events that webhooks accepted.", ("webhook",))
    webhook: str
    kind: str
    event_id: str
    attempts: int


class WebhookPostponed(Event, frozen=True, kw_only=True):
    """A webhook did not accept an event, or did not answer; it is sent again later."""

    webhooks = "never"
    counter = EventCounter(
        "webhooks_postponed",
        "Attempts to send an event that failed and will be repeated.",
        ("webhook",),
    )
    webhook: str
    kind: str
    event_id: str
    attempts: int
    cause: str


class WebhookFailed(Event, frozen=True, kw_only=True):
    """A webhook did not accept an event for a day, which is a dead letter now (docs/audit.md#dead-letters)."""

    level = "warning"
    webhooks = "never"
    counter = EventCounter(
        "webhooks_failed", "Events that became dead letters; alert on any.", ("webhook",)
    )
    webhook: str
    kind: str
    event_id: str
    attempts: int
    cause: str


class WebhookGone(Event, frozen=True, kw_only=True):
    """A webhook answered with status 410: it gets one request an hour until it accepts one."""

    level = "warning"
    webhooks = "never"
    counter = EventCounter(
        "webhooks_gone", "Answers with status 410 of webhooks; alert on any.", ("webhook",)
    )
    webhook: str


class WebhookRefused(Event, frozen=True, kw_only=True):
    """An event was not queued for a webhook.

    `reason` is `full` if too many wait for it already, or `store_unavailable` if Redis has been unavailable for so long
    that this process cannot keep more.
    """

    level = "warning"
    webhooks = "never"
    counter = EventCounter(
        "webhooks_refused", "Events that were not queued; alert on any.", ("webhook", "reason")
    )
    webhook: str
    kind: str
    reason: WebhookRefusal
