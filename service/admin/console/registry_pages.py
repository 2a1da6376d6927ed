"""The pages about clients and APIs, with the picture of who can reach what."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from service.admin.console import picture
from service.admin.console.visits import ConsoleVisits, NotFound, Visit
from service.admin.reading import Views
from service.admin.views.page import Paging
from service.admin.ways.drawing import Edge
from service.admin.ways.finding import find_entry
from service.model.registry import LiveRegistry
from service.protocol.redirect_uri import with_query
from service.web.endpoint import Answer, Message
from service.web.pages.display import page_of


class RegistryPages(msgspec.Struct, frozen=True, kw_only=True):
    visits: ConsoleVisits
    views: Views
    registry: LiveRegistry

    async def clients(self, request: Message) -> Answer:
        """Show clients, APIs and the picture of who can reach what, or the part of it that is asked for.

        Each step takes some milliseconds for thousands of clients, so that other requests go between them.
        """
        visit = await self.visits.open_page(request)
        params, current = visit.params, self.registry.current
        asked = (params.get("find") or "").strip()
        edges = await self.views.reach.find_edges()
        clients = {
            name: one
            for name, one in current.clients.items()
            if _matches(asked, name, str(one.client_name or ""))
        }
        await asyncio.sleep(0)
        apis = {
            name: one
            for name, one in current.api_resources.items()
            if _matches(asked, name, one.url or "")
        }
        ways = [edge for edge in edges if edge.way.client_id in clients or edge.way.api in apis]
        await asyncio.sleep(0)
        shown = page_of([*clients.values()], params.get("clients"))
        apis_shown = page_of([*apis.values()], params.get("apis"))
        reached = _find_reached_apis({one.client_id for one in shown.items}, edges)
        await asyncio.sleep(0)
        reaching = _count_reaching_clients({one.name for one in apis_shown.items}, edges)
        await asyncio.sleep(0)
        context = {
            "asked": asked,
            "ways": len(ways),
            "drawn": _draw(ways),
            "clients": shown,
            "reached": reached,
            "apis": apis_shown,
            "reaching": reaching,
        }
        return self.visits.show(visit, "clients", {"here": "/clients", **context})

    async def client(self, request: Message) -> Answer:
        """Show one client of any origin."""
        visit = await self.visits.open_page(request)
        client_id = visit.params.get("id") or ""
        view = await self.views.clients.find_client(client_id) if client_id else None
        if view is None:
            raise NotFound("there is no such client")
        entry, edges = find_entry(self.registry.current, client_id), await self._find_edges()
        ways = [edge for edge in edges if edge.way.client_id == entry]
        is_registered = view.origin == "dynamic_registration"
        context = {
            "here": "/registered-clients" if is_registered else "/clients",
            "own_path": with_query("/client", {"id": client_id}),
            "client": view,
            "drawn": _draw(ways),
            **_part(ways, visit),
        }
        return self.visits.show(visit, "client", context)

    async def api(self, request: Message) -> Answer:
        """Show one API resource."""
        visit = await self.visits.open_page(request)
        name = visit.params.get("name") or ""
        view = await self.views.apis.find_api(name) if name else None
        if view is None:
            raise NotFound("there is no such API resource")
        ways = [edge for edge in await self._find_edges() if edge.way.api == view.name]
        context = {
            "here": "/clients",
            "api": view,
            "drawn": _draw(ways),
            **_part(ways, visit),
        }
        return self.visits.show(visit, "api", context)

    async def registered_clients(self, request: Message) -> Answer:
        """Show the clients that registered themselves."""
        visit = await self.visits.open_page(request)
        page = await self.views.clients.list_registered(Paging(visit.params.get("cursor")))
        context = {"here": "/registered-clients", "page": page}
        return self.visits.show(visit, "registered_clients", context)

    async def _find_edges(self) -> Sequence[Edge]:
        return await self.views.reach.find_edges()


def _part(edges: Sequence[Edge], visit: Visit) -> Mapping[str, object]:
    """Return the part of a list of ways that is asked for, how many there are, and the number of the next part."""
    part = page_of(edges, visit.params.get("cursor"))
    following = part.number + 1 if part.number < part.last else None
    return {"ways": [edge.view for edge in part.items], "many": len(edges), "next": following}


def _draw(edges: Sequence[Edge]) -> picture.Picture | None:
    """Return the picture of these ways; None where it would be too much for one."""
    if len(edges) > picture.MOST_LINES:
        return None
    return picture.draw([edge.view for edge in edges])


def _matches(asked: str, *texts: str) -> bool:
    return not asked or any(asked.casefold() in text.casefold() for text in texts)


def _find_reached_apis(
    clients: Collection[str], edges: Iterable[Edge]
) -> Mapping[str, Collection[str]]:
    """Return the APIs that each of these clients can get tokens for."""
    found: dict[str, dict[str, None]] = {name: {} for name in clients}
    for way, _ in edges:
        if way.client_id in found:
            found[way.client_id][way.api] = None
    return found


def _count_reaching_clients(apis: Collection[str], edges: Iterable[Edge]) -> Mapping[str, int]:
    """Return how many clients can get tokens for each of these APIs."""
    found: dict[str, set[str]] = {name: set() for name in apis}
    for way, _ in edges:
        if way.api in found:
            found[way.api].add(way.client_id)
    return {name: len(clients) for name, clients in found.items()}
