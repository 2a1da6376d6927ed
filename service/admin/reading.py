"""The rows of the admin API that show something."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from service.admin.api import AdminRequest, NotFound, Reply, Row
from service.admin.explain import explain
from service.admin.explain.parts import CannotExplain, Parts
from service.admin.views.apis import ApiViews
from service.admin.views.clients import ClientViews
from service.admin.views.keys import show_keys
from service.admin.views.page import Page, Paging, bad_cursor, cursor_after
from service.admin.views.reach import ReachViews
from service.admin.views.registry import show_registry
from service.admin.views.users import UserViews
from service.admin.ways.answers import UnknownName
from service.config.reload import ReloadableRegistry
from service.keys.key_source import KeySource
from service.outbox.looking import STATES, Outboxes, OutboxMessage, QueueCounts
from service.protocol.errors import InvalidRequest

T = TypeVar("T")
PAGING = frozenset({"cursor", "limit"})
SEARCHES = frozenset({"username", "email", "sub"})
WAYS = frozenset({"client", "api"})


class Fact(msgspec.Struct, frozen=True):
    """One line of an explanation; a name can come more than once."""

    name: str
    value: str


class ExplainView(msgspec.Struct, frozen=True, kw_only=True):
    facts: tuple[Fact, ...]


class OutboxView(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of all messages, and a page of those in one state."""

    queues: dict[str, QueueCounts]
    items: tuple[OutboxMessage, ...]
    next: str | None


class Views(msgspec.Struct, frozen=True, kw_only=True):
    """All views, for the admin API and for the console."""

    clients: ClientViews
    apis: ApiViews
    users: UserViews
    keys: KeySource
    registry: ReloadableRegistry
    reach: ReachViews
    explained: Parts
    outboxes: Outboxes


def reading_rows(views: Views) -> tuple[Row, ...]:
    """Return the rows that need no more than `admin.read`."""
    clients, apis, users = views.clients, views.apis, views.users
    return (
        _list("/admin/clients", clients.list_clients),
        _find("/admin/clients/{id}", clients.find_client),
        _list("/admin/registered-clients", clients.list_registered),
        _list("/admin/api-resources", apis.list_apis),
        _find("/admin/api-resources/{name}", apis.find_api),
        Row("GET", "/admin/users", _search_users(users), parameters=SEARCHES),
        _find("/admin/users/{sub}", users.find_user),
        _list_of("/admin/users/{sub}/sessions", users.list_sessions),
        _list_of("/admin/users/{sub}/grants", users.list_grants),
        _find("/admin/users/{sub}/factors", users.list_factors),
        _find("/admin/sessions/{id}", users.find_session),
        _find("/admin/grants/{id}", users.find_grant),
        Row("GET", "/admin/keys", _show(lambda: show_keys(views.keys))),
        Row("GET", "/admin/registry", _show(lambda: show_registry(views.registry))),
        Row("GET", "/admin/outbox", _list_messages(views.outboxes), parameters=PAGING | {"state"}),
        Row("POST", "/admin/explain", _explain(views.explained)),
        Row("GET", "/admin/why", _explain_reach(views.reach), parameters=WAYS | {"scope"}),
        Row("GET", "/admin/graph", _list_ways(views.reach), parameters=WAYS | PAGING),
    )


def _read_paging(request: AdminRequest) -> Paging:
    return Paging.read(cursor=request.query.get("cursor"), limit=request.query.get("limit"))


def _list(path: str, find: Callable[[Paging], Awaitable[Page[T]]]) -> Row:
    async def answer(request: AdminRequest) -> Reply:
        return await find(_read_paging(request))

    return Row("GET", path, answer, parameters=PAGING)


def _list_of(path: str, find: Callable[[str, Paging], Awaitable[Page[T] | None]]) -> Row:
    async def answer(request: AdminRequest) -> Reply:
        (name,) = request.path.values()
        return await find(name, _read_paging(request))

    return Row("GET", path, answer, parameters=PAGING)


def _find(path: str, find: Callable[[str], Awaitable[msgspec.Struct | None]]) -> Row:
    async def answer(request: AdminRequest) -> Reply:
        (name,) = request.path.values()
        return await find(name)

    return Row("GET", path, answer)


def _show(read: Callable[[], msgspec.Struct]) -> Callable[[AdminRequest], Awaitable[Reply]]:
    async def answer(_: AdminRequest) -> Reply:
        return read()

    return answer


def _search_users(users: UserViews) -> Callable[[AdminRequest], Awaitable[Reply]]:
    async def answer(request: AdminRequest) -> Reply:
        given = [name for name in sorted(SEARCHES) if request.query.get(name)]
        if len(given) != 1:
            raise InvalidRequest("exactly one of username, email and sub is needed")
        return await users.find_users(given[0], request.query.require(given[0]))

    return answer


async def read_outbox(outboxes: Outboxes, state: str | None, paging: Paging) -> OutboxView:
    """Return a page of the messages that are `waiting` or `dead`; raise InvalidRequest for another state."""
    state = state or "waiting"
    if state not in STATES:
        raise InvalidRequest(f"state is not one of {', '.join(STATES)}")
    try:
        page = await outboxes.read(state=state, cursor=paging.after, limit=paging.limit)
    except ValueError as error:
        raise bad_cursor() from error
    return OutboxView(
        queues=await outboxes.counts(),
        items=page.messages,
        next=page.cursor and cursor_after(page.cursor),
    )


def _list_messages(outboxes: Outboxes) -> Callable[[AdminRequest], Awaitable[Reply]]:
    async def answer(request: AdminRequest) -> Reply:
        return await read_outbox(outboxes, request.query.get("state"), _read_paging(request))

    return answer


def _explain(parts: Parts) -> Callable[[AdminRequest], Awaitable[Reply]]:
    async def answer(request: AdminRequest) -> Reply:
        members = await request.read_body()
        text = members.get("text")
        if set(members) != {"text"} or not isinstance(text, str) or not text.strip():
            raise InvalidRequest("the body has to have one member, text: a token or a URL")
        try:
            rows = await explain(parts, text.strip())
        except CannotExplain as error:
            raise InvalidRequest(str(error)) from error
        return ExplainView(facts=tuple(Fact(name, value) for name, value in rows))

    return answer


def _explain_reach(reach: ReachViews) -> Callable[[AdminRequest], Awaitable[Reply]]:
    async def answer(request: AdminRequest) -> Reply:
        query = request.query
        client, api = query.require("client"), query.require("api")
        try:
            return await reach.explain(client, api, query.get("scope"))
        except UnknownName as error:
            raise NotFound(str(error)) from error

    return answer


def _list_ways(reach: ReachViews) -> Callable[[AdminRequest], Awaitable[Reply]]:
    async def answer(request: AdminRequest) -> Reply:
        client, api = request.query.get("client"), request.query.get("api")
        try:
            return await reach.list_ways(_read_paging(request), client=client, api=api)
        except UnknownName as error:
            raise NotFound(str(error)) from error

    return answer
