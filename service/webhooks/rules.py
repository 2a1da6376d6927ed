"""Rules on webhooks: where they are, and which events they get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from service.config.problem import Finding, nearest, report_unknown, warning
from service.config.schema.file import ConfigurationFile
from service.events.event import Event
from service.model.marks import Location
from service.model.webhook import Webhook
from service.protocol.uris import is_loopback, is_unencrypted
from service.webhooks.kinds import WILDCARD, find_matches, find_sent, find_to_be_named

_BY_NAME = "a pattern does not match {}, which anyone can cause or which come with each token"
_MOST_NAMED = 3


def webhooks_can_be_used(file: ConfigurationFile) -> Iterator[Finding]:
    """Webhooks are encrypted and at addresses that are allowed, each URL once, and get events that exist."""
    webhooks = file.events.webhooks
    if not webhooks:
        return
    sent = find_sent()
    uses = Counter(url for webhook in webhooks for url in (webhook.url, *webhook.replaces))
    for at, webhook in enumerate(webhooks):
        location: Location = ("events", "webhooks", at)
        yield from _judge_url(file, webhook, location, uses)
        for position, entry in enumerate(webhook.kinds):
            yield from _judge_kind(entry, sent, (*location, "kinds", position))


def _judge_url(
    file: ConfigurationFile, webhook: Webhook, at: Location, uses: Mapping[str, int]
) -> Iterator[Finding]:
    parts = urlsplit(webhook.url)
    host = parts.hostname or ""
    if is_unencrypted(webhook.url):
        yield Finding((*at, "url"), "http is for loopback addresses", "use https")
    if parts.username is not None or parts.password is not None:
        message = "has credentials, which are not sent"
        yield Finding((*at, "url"), message, "remove them: each request is signed")
    if parts.fragment:
        yield Finding((*at, "url"), "has a fragment, which is not sent", "remove it")
    if uses[webhook.url] > 1:
        yield Finding((*at, "url"), "is there twice", "write one webhook with all kinds")
    if _is_refused(file, host, https=parts.scheme == "https"):
        message = "is an address inside a network, which outgoing.allowed_networks does not list"
        yield Finding(
            (*at, "url"), message, "list its network there if you want to send events to it"
        )


def _is_refused(file: ConfigurationFile, host: str, *, https: bool) -> bool:
    """Return whether the guard refuses an address that the URL itself has; a name is resolved when it is used."""
    if is_loopback(host) and not host[:1].isdigit() and ":" not in host:
        host = "127.0.0.1"
    try:
        address = ip_address(host)
    except ValueError:
        return False
    allowed = any(address in network for network in file.outgoing.allowed_networks)
    return not allowed and not (https and address.is_global)


def _judge_kind(entry: str, sent: Mapping[str, type[Event]], at: Location) -> Iterator[Finding]:
    if WILDCARD not in entry:
        if entry not in sent:
            yield report_unknown(at, entry, sent.keys(), "event")
        return
    named = find_to_be_named(entry, sent)
    shown = ", ".join(named[:_MOST_NAMED]) + (" and others" if len(named) > _MOST_NAMED else "")
    if find_matches(entry, sent):
        if named:
            yield warning(at, _BY_NAME.format(shown), "name those that you want one by one")
    elif named:
        yield Finding(at, _BY_NAME.format(shown), "name those that you want one by one")
    else:
        prefix = entry.partition(WILDCARD)[0]
        hint = nearest(prefix, sent) or "docs/reference/audit-events.md lists the events"
        yield Finding(at, f"no event matches {entry}", hint)
