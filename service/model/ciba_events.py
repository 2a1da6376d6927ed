"""Events of CIBA for the audit log and the metrics, like those in `events.py`."""

from __future__ import annotations

import msgspec


class CibaRequested(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    subject: str
    auth_req_ref: str
    """The name of the request for everybody but its client."""
    scope: frozenset[str]


class CibaApproved(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    subject: str
    auth_req_ref: str
    scope: frozenset[str]


class CibaDenied(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    subject: str
    auth_req_ref: str


class CibaNotifierFailed(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    auth_req_ref: str
    cause: str


class CibaMessageDelivered(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    kind: str
    """ping or webhook."""
    auth_req_ref: str
    attempts: int


class CibaMessagePostponed(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    kind: str
    auth_req_ref: str
    attempts: int
    cause: str


class CibaMessageFailed(msgspec.Struct, frozen=True, kw_only=True):
    client_id: str
    kind: str
    auth_req_ref: str
    attempts: int
    cause: str
