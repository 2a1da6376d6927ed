"""One request, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, urlsplit

from aiohttp import ClientConnectionError, ClientPayloadError, ClientSession, ClientTimeout
from yarl import URL

from tests.driving.haproxy import CHOSEN
from tests.driving.registry import secret_of
from tests.driving.service import basic

PATIENCE = 6
"""Seconds after which a caller gives up; no answer may take so long, whatever happens behind it."""
REDIRECTS = frozenset({HTTPStatus.FOUND, HTTPStatus.SEE_OTHER})
NAMED_BY_THE_SERVICE = "X-Request-ID"
"""What every answer of the service has, and none of the balancer's own."""


class Kind(StrEnum):
    """The outcome of a request, in the words of the report."""

    GOOD = "good"
    UNAVAILABLE = "503 temporarily_unavailable"
    REFUSED = "refused"
    BALANCER = "by the balancer"
    CONNECTION = "connection lost"
    SILENCE = "no answer in time"
    WRONG = "wrong"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A request that is over."""

    work: str
    kind: Kind
    began: float
    ended: float
    status: int | None = None
    error: str | None = None
    request_id: str | None = None
    """The service's name of the request."""
    content: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The JSON of the body, or the parameters that the browser brings back to the client."""

    @property
    def good(self) -> bool:
        """Whether the caller got what was asked for."""
        return self.kind is Kind.GOOD

    @property
    def label(self) -> str:
        """The kind, as precisely as the report tells it."""
        if self.kind in {Kind.REFUSED, Kind.WRONG}:
            return f"{self.status} {self.error or self.kind}"
        return f"{self.status} {self.kind}" if self.kind is Kind.BALANCER else str(self.kind)


@dataclass
class Caller:
    """Sends requests and keeps every answer."""

    http: ClientSession
    answers: list[Answer] = field(default_factory=list)

    async def post(
        self, work: str, url: str, *, auth: str, at: str | None = None, **form: str
    ) -> Answer:
        """A form of a client or API resource, with its usual secret; perhaps to a replica of its own choice."""
        headers = {"Authorization": basic(auth, secret_of(auth))} | ({CHOSEN: at} if at else {})
        return await self.send(work, "POST", url, data=form, headers=headers)

    async def get(self, work: str, url: str, *, http: ClientSession | None = None) -> Answer:
        """A GET; perhaps with the cookies of somebody."""
        return await self.send(work, "GET", url, http=http)

    async def send(
        self, work: str, method: str, url: str, *, http: ClientSession | None = None, **options: Any
    ) -> Answer:
        """Any request; redirects are not followed."""
        began = monotonic()
        seen: dict[str, Any]
        try:
            async with (http or self.http).request(
                method,
                URL(url, encoded=True),
                allow_redirects=False,
                timeout=ClientTimeout(total=PATIENCE),
                **options,
            ) as response:
                seen = read(response.status, response.headers, await response.read())
        except TimeoutError:
            seen = {"kind": Kind.SILENCE}
        except (ClientConnectionError, ClientPayloadError):
            seen = {"kind": Kind.CONNECTION}
        answer = Answer(work=work, began=began, ended=monotonic(), **seen)
        self.answers.append(answer)
        return answer


def read(status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Kind, status, error and content of an answer."""
    if NAMED_BY_THE_SERVICE not in headers:
        return {"kind": Kind.BALANCER, "status": status}
    if status in REDIRECTS:
        named = {"status": status, "request_id": headers[NAMED_BY_THE_SERVICE]}
        return named | _read_redirect(headers["Location"])
    content = _members(body)
    error = content.get("error")
    return {"status": status, "error": error, "content": content} | {
        "kind": _kind(status, error, "Retry-After" in headers)
    }


def _read_redirect(location: str) -> dict[str, Any]:
    """Return what the browser brings to the client, or that it shows the login page."""
    parts = urlsplit(location)
    if parts.path.startswith("/account/"):
        return {"kind": Kind.REFUSED, "error": f"sent to {parts.path}"}
    brought = {name: values[0] for name, values in parse_qs(parts.query).items()}
    error = brought.get("error")
    if error == "temporarily_unavailable":
        return {"kind": Kind.UNAVAILABLE, "error": error}
    return {"kind": Kind.GOOD if error is None else Kind.REFUSED} | {
        "error": error,
        "content": brought,
    }


def _kind(status: int, error: object, tells_when: bool) -> Kind:
    """An answer of the service itself; unavailable is one that says so, and when to come back."""
    if status == HTTPStatus.OK:
        return Kind.GOOD
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        honest = error == "temporarily_unavailable" and tells_when
        return Kind.UNAVAILABLE if honest else Kind.WRONG
    return Kind.REFUSED if status < HTTPStatus.INTERNAL_SERVER_ERROR else Kind.WRONG


def _members(body: bytes) -> Mapping[str, Any]:
    try:
        content = json.loads(body or b"{}")
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
