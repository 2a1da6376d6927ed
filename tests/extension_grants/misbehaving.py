"""A grant that does everything wrong that a handler can do wrong."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec.structs import replace

from service.protocol.errors import AccessDenied, InvalidGrant
from service.store.keyvalue import StoreUnavailable
from service.tokens.granting import ContinuedGrant, GrantServices, NewGrant, TokenRequest


def _raise(error: BaseException) -> Any:
    raise error


def _alter(request: TokenRequest, **changes: Any) -> Any:
    success = request.granted_to("818727")
    return replace(success, authorization=replace(success.authorization, **changes))


WAYS: Mapping[str, Callable[[TokenRequest], Any]] = {
    "returns nothing": lambda _: None,
    "returns a dict": lambda _: {"subject": "818727"},
    "returns a class": lambda _: InvalidGrant,
    "returns two results": lambda request: (request.granted_to("818727"), InvalidGrant("no")),
    "returns true": lambda _: True,
    "raises": lambda _: _raise(RuntimeError("out of order")),
    "raises a KeyError": lambda _: _raise(KeyError("missing")),
    "raises a time-out": lambda _: _raise(TimeoutError()),
    "is cancelled": lambda _: _raise(asyncio.CancelledError()),
    "exits": lambda _: sys.exit("good bye"),
    "grants an unknown user": lambda request: request.granted_to("nobody"),
    "grants a disabled user": lambda request: request.granted_to("5"),
    "grants no user": lambda request: request.granted_to(""),
    "grants a number": lambda request: request.granted_to(818727),  # type: ignore[arg-type]
    "grants more than was asked": lambda request: _alter(
        request, scope=frozenset({"api1", "api2", "admin"})
    ),
    "continues an authorization that does not exist": lambda request: ContinuedGrant(
        authorization=request.granted_to("818727").authorization,
        scope=request.scope,
        resources=(),
        authorization_details=(),
        issue_id_token=False,
        single_use=None,
    ),
    "begins an authorization and uses a code up": lambda request: NewGrant(
        authorization=request.granted_to("818727").authorization,
        single_use=None,  # type: ignore[call-arg]
    ),
    "grants another resource": lambda request: _alter(request, resources=("api2",)),
    "forgets the resource": lambda request: _alter(request, resources=()),
    "grants to another client": lambda request: _alter(request, client_id="web"),
    "claims what is no JSON": lambda request: request.granted_to("818727", claims={"x": object()}),
    "answers what is no JSON": lambda request: request.granted_to("818727", members={"x": {1, 2}}),
    "refuses with what is no JSON": lambda _: InvalidGrant("no", members={"x": object()}),
    "authorizes nothing": lambda request: replace(
        request.granted_to("818727"),
        authorization=None,
    ),
    "grants a word": lambda request: _alter(request, scope="api1"),
    "lives no time": lambda request: request.granted_to("818727", lifetime=0),
    "lives for a word": lambda request: request.granted_to("818727", lifetime="long"),  # type: ignore[arg-type]
}
"""Every one of them has to end as invalid_grant."""


class MisbehavingGrant:
    """Behaves as the parameter `way` names it."""

    grant_type: ClassVar[str] = "urn:example:misbehaving"

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        """Take nothing of it."""

    async def handle(self, request: TokenRequest) -> Any:
        """Go one of the wrong ways."""
        way = request.params.require("way")
        if way == "sleeps":
            await asyncio.sleep(60)
        if way == "is stopped" and (task := asyncio.current_task()) is not None:
            task.cancel()
            await asyncio.sleep(60)
        if way == "denies":
            raise AccessDenied("Zoë said no", members={"host": "Zoe", "error": "none"})
        if way == "loses the store":
            raise StoreUnavailable("the store cannot be reached")
        return WAYS[way](request)


class SecondInvitationGrant(MisbehavingGrant):
    """Wants a grant type that is taken."""

    grant_type: ClassVar[str] = "urn:example:invitation"


class FussyGrant(MisbehavingGrant):
    """Cannot be made."""

    grant_type: ClassVar[str] = "urn:example:fussy"

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        """Refuse to be."""
        raise ValueError("not with these options")
