"""Which request is this? The id that the answer, the logs, the audit events and the error page share."""

from __future__ import annotations

import re
from random import getrandbits

from service.http.message import Message
from service.model.events import current_request_id

HEADER = "X-Request-ID"

_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")


def request_id() -> str:
    """The id of the request that is being answered, for the error page."""
    return current_request_id.get() or ""


def new_request_id() -> str:
    """An id that nobody else has; it is no secret, so it need not be drawn by the kernel."""
    return f"{getrandbits(64):016x}"


def request_id_of(request: Message) -> str:
    """The caller's own id where it is sane, else a new one."""
    given = request.headers.get(HEADER)
    return given if given is not None and _SANE.fullmatch(given) else new_request_id()
