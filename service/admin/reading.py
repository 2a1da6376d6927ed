"""The rows of the admin API that show something."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from service.admin.api import AdminRequest, NotFound, Reply, Row
from service.admin.explain.parts import CannotExplain
from service.admin.views.apis import ApiViews
from service.admin.views.clients import ClientViews
from service.admin.views.explain import ExplainViews
from service.admin.views.keys import KeyViews
from service.admin.views.outbox import OutboxViews
from service.admin.views.page import Page, Paging
from service.admin.views.reach import ReachViews
from service.admin.views.registry import show_registry
from service.admin.views.users import UserViews
from service.admin.ways.answers import UnknownName
from service.config.reload import ReloadableRegistry
from service.protocol.errors import InvalidRequest

T = TypeVar("T")
PAGING = frozenset({"cursor", "limit"})
SEARCHES = frozenset({"username", "email", "sub"})
WAYS = frozenset({"client", "api"})


class Views(msgspec.Struct, frozen=True, kw_only=True):
    """All views, for the admin API and for the console."""

    clients: ClientViews
    apis: ApiViews
    users: UserViews
    keys: KeyViews
    registry: ReloadableRegistry
    reach: ReachViews
    explanations: ExplainViews
    outbox: OutboxViews


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
        Row("GET", "/admin/keys", _show(views.keys.list_keys)),
        Row("GET", "/admin/registry", _show(lambda: show_registry(views.registry))),
        Row("GET", "/admin/outbox", _list_messages(views.outbox), parameters=PAGING | {"state"}),
        Row("POST", "/admin/explain", _explain(views.explanations)),
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


def _list_messages(outbox: OutboxViews) -> Callable[[AdminRequest], Awaitable[Reply]]:
    async def answer(request: AdminRequest) -> Reply:
        return await outbox.read(request.query.get("state") or "waiting", _read_paging(request))

    return answer


def _explain(explanations: ExplainViews) -> Callable[[AdminRequest], Awaitable[Reply]]:
    async def answer(request: AdminRequest) -> Reply:
        members = await request.read_body()
        text = members.get("text")
        if set(members) != {"text"} or not isinstance(text, str) or not text.strip():
            raise InvalidRequest("the body is not an object with text alone: a token or a URL")
        try:
            return await explanations.explain(text)
        except CannotExplain as error:
            raise InvalidRequest(str(error)) from error

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
