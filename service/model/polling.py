"""An authorization that the user decides elsewhere while its client polls for it (RFC 8628 §3.4, CIBA Core §7.3)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.model.authorization import Confirmation
from service.model.handle import HandleKind
from service.protocol.authorization_details import Detail

DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
"""The grant type by which devices poll (RFC 8628 §3.4)."""

CIBA = "urn:openid:params:grant-type:ciba"
"""The grant type by which clients poll whose users answer elsewhere (CIBA Core §10.1)."""

HANDLES: Mapping[str, HandleKind] = {DEVICE_CODE: "device_code", CIBA: "auth_req_id"}
"""The handle that a client of each grant type polls with: the kind of its handle, and the parameter of the token request."""


class PolledRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The request behind a device code or an auth_req_id; it is never rewritten."""

    client_id: str
    grant_type: str
    """The grant by which the client polls, and later that of the authorization."""
    scope: frozenset[str]
    resources: tuple[str, ...] = ()
    authorization_details: tuple[Detail, ...] = ()
    cnf: Confirmation | None = None
    """The key that every poll has to prove; None where the tokens are bound to that of the last poll, if at all."""
    expires_at: int
    """Seconds since the epoch; the record outlives it, so that a late poll gets the right error."""


class PolledPlace(msgspec.Struct, frozen=True):
    """The place of a polled request's records; it is not secret: nobody can poll with it."""

    selector: str
    digest: str
    """The hash of the handle."""


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The user's answer to a polled request; of several, at whatever replica, the first one counts."""

    attempt: str
    """The id of the answer: a retry by the store's client is not a second one."""
    authorization_id: str | None = None
    """The authorization; None if the user refused."""

    @property
    def is_allowed(self) -> bool:
        return self.authorization_id is not None
