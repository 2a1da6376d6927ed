"""What do spans say? The attributes of OpenTelemetry's semantic conventions, as far as they hold nothing secret."""

from __future__ import annotations

from http import HTTPMethod, HTTPStatus
from urllib.parse import urlsplit

from opentelemetry.trace import Span, StatusCode

from service.model.events import RequestAnswered
from service.model.timings import StoreAnswered
from service.observe.metrics import OTHER

METHODS = frozenset(HTTPMethod)
"""All others are the caller's invention."""

Attributes = dict[str, str | int]


def note_answer(span: Span, event: RequestAnswered) -> None:
    """How a request was answered; by which route, unless the caller made its path up."""
    if not span.is_recording():
        return
    span.set_attribute("http.response.status_code", event.status)
    if event.endpoint != OTHER:
        span.set_attribute("http.route", event.endpoint)
        span.update_name(f"{event.method} {event.endpoint}")
    if event.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        note_error(span, str(event.status))


def note_error(span: Span, kind: str) -> None:
    """That something failed, and nothing of its message."""
    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)


def note_status(span: Span, status: int) -> None:
    """What another server has answered."""
    span.set_attribute("http.response.status_code", status)
    if status >= HTTPStatus.BAD_REQUEST:
        note_error(span, str(status))


def of_store(event: StoreAnswered) -> tuple[str, Attributes]:
    """A span's name and attributes: each command once, and how many there were."""
    names = event.operations
    summary = " ".join(dict.fromkeys(names))
    attributes: Attributes = {"db.system.name": "redis", "db.query.summary": summary}
    if len(names) == 1:
        return summary, {**attributes, "db.operation.name": summary}
    attributes["db.operation.name"] = f"PIPELINE {summary}" if summary in names else "PIPELINE"
    return f"PIPELINE {summary}", {**attributes, "db.operation.batch.size": len(names)}


def of_address(url: str) -> Attributes:
    """The host that is asked, and the port where the URL names one."""
    try:
        split = urlsplit(url)
        named = {"server.address": split.hostname, "server.port": split.port}
    except ValueError:
        return {}
    return {name: value for name, value in named.items() if value is not None}
