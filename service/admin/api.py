"""The admin API: a table of rows, each a method and a path with what answers it, and what all of them share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Final, cast

import msgspec
from aiohttp import web

from service.admin.access import Access, Caller
from service.admin.views.page import Page
from service.protocol.errors import InvalidRequest, OAuthError
from service.protocol.params import Params
from service.store.verbs import steps
from service.web.endpoint import NO_STORE, Answer, Fields, empty_answer
from service.web.parameters import json_object, query_params

LONGEST_NAME = 40

_FIELDS: Final = Fields({"Content-Type": "application/json", **NO_STORE})
_encode = msgspec.json.Encoder(order="deterministic").encode


class NotFound(OAuthError, code="not_found", status=404):
    """Nothing has this name or id."""


class AdminRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that its caller is allowed to send."""

    caller: Caller
    path: Mapping[str, str]
    """The names in the path, decoded."""
    query: Params
    read_body: Callable[[], Awaitable[Mapping[str, object]]]
    """Returns the members of a JSON body; raises InvalidRequest."""


Reply = msgspec.Struct | Mapping[str, object] | None
"""The content of a 200. None: a 204 if the row writes, and else a 404."""


class Row(msgspec.Struct, frozen=True):
    """A method and a path of the API."""

    method: str
    path: str
    """With names in braces, as `/admin/users/{sub}`."""
    answer: Callable[[AdminRequest], Awaitable[Reply]]
    parameters: frozenset[str] = frozenset()
    """Those that the query may hold."""
    writes: bool = False
    """Whether it changes something, and so needs the scope admin.write."""


class AdminApi(msgspec.Struct, frozen=True, kw_only=True):
    """Serves the rows; only the rows know what the API is about."""

    access: Access
    rows: tuple[Row, ...]

    def routes(self) -> Iterable[web.RouteDef]:
        for row in self.rows:
            path = row.path.replace("}", ":[^/]+}")  # aiohttp's own pattern leaves out braces
            handler = partial(self._serve, row)
            is_get = row.method == "GET"
            yield web.get(path, handler) if is_get else web.route(row.method, path, handler)

    async def _serve(self, row: Row, request: web.Request) -> web.Response:
        caller = await self.access.find_caller(request, endpoint=row.path, writes=row.writes)
        query = query_params(request)
        query.refuse_repeated(frozenset())
        if unknown := sorted(query.values.keys() - row.parameters):
            raise InvalidRequest(f"{_shown(unknown[0])} is not a parameter of this path")
        asked = AdminRequest(
            caller=caller,
            path=dict(request.match_info),
            query=query,
            read_body=partial(json_object, request),
        )
        reply = await row.answer(asked)
        if reply is None and row.writes:
            return empty_answer(204).for_aiohttp()
        if reply is None:
            raise NotFound("nothing has this name or id")
        return Answer(_FIELDS, await _encode_in_steps(reply)).for_aiohttp()


async def _encode_in_steps(reply: msgspec.Struct | Mapping[str, object]) -> bytes:
    """Return the JSON of a reply; a page of large entries is encoded in steps, between which other requests go."""
    if not isinstance(reply, Page):
        return _encode(reply)
    items: list[msgspec.Raw] = []
    for some in steps(cast("Page[object]", reply).items):
        await asyncio.sleep(0)
        items += [msgspec.Raw(_encode(one)) for one in some]
    return _encode(Page(items=tuple(items), next=reply.next))


def _shown(name: str) -> str:
    return (
        name if name.isascii() and name.isidentifier() and len(name) <= LONGEST_NAME else "a name"
    )
