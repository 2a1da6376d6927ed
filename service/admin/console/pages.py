"""The pages of the console: they show the views of the admin room, and change nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec
from aiohttp import web

from service.admin.console import picture
from service.admin.console.visits import ConsoleVisits, Visit
from service.admin.views.reach import ReachViews
from service.admin.ways.drawing import Edge
from service.model.registry import LiveRegistry
from service.store.memory import StoreMemory
from service.web.pages.cookies import Cookie
from service.web.pages.display import page_of


class Health(Protocol):
    """The state of this replica as load balancers see it."""

    def find_reasons(self) -> Iterable[str]: ...
    def find_degradations(self) -> Iterable[str]: ...


class Views(msgspec.Struct, frozen=True, kw_only=True):
    """The views that the pages show."""

    reach: ReachViews
    health: Health
    memory: StoreMemory


class Console(msgspec.Struct, frozen=True, kw_only=True):
    """Every page is for operators that `readers` or `writers` include."""

    issuer: str
    visits: ConsoleVisits
    views: Views
    registry: LiveRegistry

    def routes(self) -> Iterable[web.RouteDef]:
        pages = {
            "/": self.overview,
            "/clients": self.clients,
            "/callback": self.callback,
            "/signed-out": self.signed_out,
        }
        forms = {"/sign-out": self.sign_out}
        around = self.visits.around
        return (
            *(web.get(path, around(handler)) for path, handler in pages.items()),
            *(web.post(path, around(handler)) for path, handler in forms.items()),
            *self.visits.pages.routes(),
        )

    async def overview(self, request: web.Request) -> web.Response:
        """Show health, store and registry."""
        visit = await self.visits.open_page(request)
        health, memory, current = self.views.health, self.views.memory, self.registry.current
        reasons = list(health.find_reasons())
        counts = {
            "clients": current.clients,
            "API resources": current.api_resources,
            "scopes": current.api_scopes,
            "identity providers": current.identity_providers,
            "tenants": current.tenants,
        }
        context = {
            "issuer": self.issuer,
            "health": {
                "is_ready": not reasons,
                "reasons": reasons,
                "degradations": list(health.find_degradations()),
            },
            "store": {
                "seconds_away": memory.kv.seconds_away,
                "used": memory.used,
                "limit": memory.limit,
            },
            "registry": {"generation": current.generation},
            "counts": [(name, len(found)) for name, found in counts.items() if found],
        }
        return self._show(visit, "overview", "/", context)

    async def clients(self, request: web.Request) -> web.Response:
        """Show clients, APIs and the picture of who can reach what, or the part of it that is asked for."""
        visit = await self.visits.open_page(request)
        params, current = visit.params, self.registry.current
        asked = (params.get("find") or "").strip()
        edges = await self.views.reach.find_edges()
        clients = {
            name: one
            for name, one in current.clients.items()
            if _matches(asked, name, str(one.client_name or ""))
        }
        apis = {
            name: one
            for name, one in current.api_resources.items()
            if _matches(asked, name, one.url or "")
        }
        ways = [edge for edge in edges if edge.way.client_id in clients or edge.way.api in apis]
        shown, apis_shown = (
            page_of([*clients.values()], params.get("clients")),
            page_of([*apis.values()], params.get("apis")),
        )
        context = {
            "asked": asked,
            "ways": len(ways),
            "drawn": _draw(ways),
            "clients": shown,
            "reached": _reached({one.client_id for one in shown.items}, edges),
            "apis": apis_shown,
            "reaching": _reaching({one.name for one in apis_shown.items}, edges),
        }
        return self._show(visit, "clients", "/clients", context)

    async def callback(self, request: web.Request) -> web.Response:
        """Take the answer to a sign-in, and begin a session of the console."""
        visits = self.visits
        person, path = await visits.sign_in.finish(
            visits.cookies.get(request, Cookie.BROWSER), visits.read_answer(request)
        )
        cookie = await visits.begin(request, person)
        response = visits.go(path)
        visits.cookies.set(response, Cookie.SESSION, cookie, max_age=None)
        visits.cookies.set(response, Cookie.BROWSER, "", max_age=0)
        return response

    async def sign_out(self, request: web.Request) -> web.Response:
        """End the session."""
        visit = await self.visits.open_form(request)
        await self.visits.operators.end(visit.operator)
        response = self.visits.go("/signed-out")
        self.visits.cookies.set(response, Cookie.SESSION, "", max_age=0)
        return response

    async def signed_out(self, request: web.Request) -> web.Response:
        """Say that the operator is signed out."""
        context = {
            "heading": "You are signed out",
            "text": "The session of the console has ended, and with it the one at the service.",
            "continue_href": self.visits.pages.url("/"),
        }
        return self.visits.show_message(request, context, status=200)

    def _show(
        self, visit: Visit, template: str, here: str, context: Mapping[str, object]
    ) -> web.Response:
        return self.visits.show(visit, template, {"here": here, **context})


def _draw(edges: Sequence[Edge]) -> picture.Picture | None:
    """Return the picture of these ways; None where it would be too much for one."""
    if len(edges) > picture.MOST_LINES:
        return None
    return picture.draw([edge.view for edge in edges])


def _matches(asked: str, *texts: str) -> bool:
    return not asked or any(asked.casefold() in text.casefold() for text in texts)


def _reached(clients: Collection[str], edges: Iterable[Edge]) -> Mapping[str, Collection[str]]:
    """Return the APIs that each of these clients can get tokens for."""
    found: dict[str, dict[str, None]] = {name: {} for name in clients}
    for way, _ in edges:
        if way.client_id in found:
            found[way.client_id][way.api] = None
    return found


def _reaching(apis: Collection[str], edges: Iterable[Edge]) -> Mapping[str, int]:
    """Return how many clients can get tokens for each of these APIs."""
    found: dict[str, set[str]] = {name: set() for name in apis}
    for way, _ in edges:
        if way.api in found:
            found[way.api].add(way.client_id)
    return {name: len(clients) for name, clients in found.items()}
