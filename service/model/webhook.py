"""Webhooks that get audit events: their settings, and events on their way (CloudEvents 1.0, Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from service.model import marks, types
from service.model.handle import digest

SECRET_PREFIX = "whsec_"
SHORTEST_SECRET, LONGEST_SECRET = 24, 64
"""Bytes, as Standard Webhooks has it."""


def _read_secret(value: object) -> bytes:
    if isinstance(value, str) and value.startswith(SECRET_PREFIX):
        try:
            secret = base64.b64decode(value.removeprefix(SECRET_PREFIX), validate=True)
        except (binascii.Error, ValueError):
            secret = b""
        if SHORTEST_SECRET <= len(secret) <= LONGEST_SECRET:
            return secret
    raise marks.expected(
        f"whsec_ and the base64 of {SHORTEST_SECRET} to {LONGEST_SECRET} random bytes, such as "
        "`echo whsec_$(openssl rand -base64 32)` prints it"
    )


Secret = Annotated[
    bytes,
    marks.ReadBy(_read_secret),
    marks.written_as({"type": "string", "pattern": "^whsec_[A-Za-z0-9+/]{32,88}={0,2}$"}),
]


class Webhook(marks.Confidential, frozen=True, kw_only=True):
    """A receiver of audit events."""

    url: types.WebUrl
    """The URL to which each event is posted; https except on loopback. Events wait for a URL: with another one here, those of
    the former one go there only if `replaces` names it."""
    secrets: Annotated[tuple[Secret, ...], marks.SECRET, msgspec.Meta(min_length=1, max_length=10)]
    """The secrets that sign, `whsec_` and base64 of at least 24 random bytes, best as ${file:…}; several while they rotate:
    each makes a signature of its own."""
    kinds: Annotated[
        tuple[Annotated[str, msgspec.Meta(min_length=1, max_length=100)], ...],
        msgspec.Meta(min_length=1),
    ]
    """The events that it gets, by their names in docs/reference/audit-events.md. A pattern such as user_* does not match events
    that anyone can cause or that come with each token; name those one by one."""
    personal: bool = False
    """true: with the names and addresses of people (`username`, `address`, `value` of refusals, `changes` and `problems` of the registry)."""
    replaces: tuple[types.WebUrl, ...] = ()
    """Former URLs of this webhook, whose waiting events go to the new one."""

    @property
    def id(self) -> str:
        """The name of this URL in the store."""
        return webhook_id(self.url)

    @property
    def host(self) -> str:
        """The part of the URL that logs and metrics may show: a path may hold a secret."""
        return host_of(self.url)


class Events(msgspec.Struct, frozen=True, kw_only=True):
    """Audit events that go out."""

    webhooks: tuple[Webhook, ...] = ()
    """The receivers of audit events, as CloudEvents signed after Standard Webhooks (docs/audit.md)."""


def webhook_id(url: str) -> str:
    """Return the name of a URL in the store."""
    return digest(url)[:16]


def host_of(url: str) -> str:
    """Return host and port of a URL."""
    return urlsplit(url).netloc.rpartition("@")[2]


class WebhookDelivery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event on its way to one webhook."""

    id: str
    """Four parts with dots between them: the webhook, the digest of what it is in order with, the bytes of the event, and the event."""
    kind: str
    host: str
    subject: str | None = None
    created_at: int
    event: str
    """The CloudEvent as JSON: what is sent, the same bytes at each attempt."""
    failures: int = 0
    cause: str | None = None
    """The reason of the last failure."""
    traceparent: str | None = None

    @property
    def is_retried(self) -> bool:
        """Whether an operator wants it to be sent now: it has the cause of a failure that no longer counts."""
        return self.failures == 0 and self.cause is not None

    @property
    def webhook(self) -> str:
        return self.id.partition(".")[0]

    @property
    def size(self) -> int:
        """The bytes of the event."""
        return int(self.id.split(".")[2])

    @property
    def event_id(self) -> str:
        return self.id.rpartition(".")[2]
