"""Authentication that the user confirms elsewhere: its settings, its records, and the interface of notifiers (CIBA Core §7)."""

from __future__ import annotations

from typing import Annotated, Literal, Protocol

import msgspec

from service.model import types
from service.model.handle import digest
from service.model.local_text import LocalText
from service.protocol.authorization_details import Detail

MessageKind = Literal["ping", "webhook"]

BUILTIN = "builtin"
"""The notifier that needs no class of the operator."""


class Ciba(msgspec.Struct, frozen=True, kw_only=True):
    """Authentication that a client begins without a browser, and that the user confirms elsewhere (CIBA Core)."""

    notifier: types.PluginName = BUILTIN
    """Who tells the user of a request: builtin lists it at /account/requests and posts to the webhook, if there is one; or the
    import path of a class of your own, such as my_package.push:MyNotifier."""
    webhook: types.WebUrl | None = None
    """The URL to which the built-in notifier posts a signed JWT about each request."""
    expires_in: types.Lifetime = 120
    """How long the user has to answer, if the client asks for no other time (requested_expiry)."""
    max_expiry: types.Lifetime = 600
    """The longest time that a client may ask for; a longer one is shortened to it."""
    interval: types.Lifetime = 5
    """The shortest time between two polls of a client."""
    max_binding_message: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    """The longest binding message, in characters; the user has to read and compare it."""


class BackchannelRequest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of a CIBA request that the user sees, and the user that it is for."""

    client_id: str
    subject: str
    digest: str
    """With the selector, under which this is stored, the place of the polled request."""
    scope: frozenset[str]
    binding_message: str | None = None
    acr_values: tuple[str, ...] = ()
    created_at: int
    expires_at: int


class BackchannelDelivery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message about a CIBA request: a ping to its client, or a note to the operator's webhook."""

    kind: MessageKind
    ref: str
    """The request's `auth_req_ref`."""
    client_id: str
    expires_at: int
    """When the request expires."""
    sealed: str = ""
    """For a ping: the auth_req_id and the client's notification token, encrypted."""
    failures: int = 0
    cause: str | None = None
    """The reason of the last failure."""
    traceparent: str | None = None
    """The span in which it was queued (W3C Trace Context §3.2)."""

    @property
    def id(self) -> str:
        return message_id(self.kind, self.ref)


def message_id(kind: str, ref: str) -> str:
    """Return the name of a message in the outbox: one of each kind for each request."""
    return digest(f"{kind} {ref}")


class AuthenticationNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A message to the user: a client asks, what it asks for, and where to answer."""

    auth_req_ref: str
    """The name of the request for everybody but its client; it is not the auth_req_id, and no token can be had for it."""
    subject: str
    client_id: str
    client_name: str | LocalText
    binding_message: str | None
    scope: frozenset[str]
    authorization_details: tuple[Detail, ...]
    expires_at: int
    """Seconds since the epoch."""
    uri: str
    """The page at which the user answers, after signing in."""


class Notifier(Protocol):
    """Tells users of CIBA requests; an operator's own class by import path, made once without arguments."""

    async def notify(self, notice: AuthenticationNotice) -> None:
        """Tell the user; the request waits for its answer at `notice.uri` whether this succeeds or fails."""
        ...
