"""Shows which client can get tokens for which API, and what is missing where it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from service.admin.views.page import MAX_DIGITS, Page, Paging, bad_cursor, cursor_after
from service.admin.ways.answers import WhyView, choose_edges, explain_reach, find_edges
from service.admin.ways.drawing import Edge, WayView
from service.config.configuration import collector_paused
from service.config.reload import short_turns
from service.model.registry import LiveRegistry, Registry
from service.protocol.errors import InvalidRequest

P = ParamSpec("P")
T = TypeVar("T")


class ReachViews:
    """The answers for the registry in force: computed in a thread, one at a time; the ways of the last registry are kept."""

    def __init__(self, registry: LiveRegistry) -> None:
        self._registry = registry
        self._turn = asyncio.Lock()
        self._known: tuple[Registry, tuple[Edge, ...]] | None = None

    async def explain(self, client: str, api: str, scope: str | None = None) -> WhyView:
        """Say how a client can get tokens for an API, or what is missing; raise UnknownName."""
        registry, edges = await self._find_edges()
        await _run_apart(choose_edges, registry, edges, client, api)
        return await _run_apart(explain_reach, registry, edges, client, api, scope)

    async def list_ways(
        self, paging: Paging, *, client: str | None = None, api: str | None = None
    ) -> Page[WayView]:
        """Return a page of the ways, in the order of the file; raise UnknownName."""
        registry, edges = await self._find_edges()
        chosen = await _run_apart(choose_edges, registry, edges, client, api)
        generation, _, number = (paging.after or f"{registry.generation} 0").partition(" ")
        if not (number.isdecimal() and len(number) <= MAX_DIGITS):
            raise bad_cursor()
        if generation != registry.generation:
            raise InvalidRequest("cursor is of a registry that was reloaded since: begin again")
        first, end = int(number), int(number) + paging.limit
        following = f"{generation} {end}" if end < len(chosen) else None
        return Page(
            items=tuple([edge.view for edge in chosen[first:end]]),
            next=following and cursor_after(following),
        )

    async def find_edges(self) -> tuple[Edge, ...]:
        """Return all ways, in the order of the file."""
        _, edges = await self._find_edges()
        return edges

    async def _find_edges(self) -> tuple[Registry, tuple[Edge, ...]]:
        async with self._turn:
            registry, known = self._registry.current, self._known
            if known is None or known[0] is not registry:
                known = self._known = registry, await _run_apart(find_edges, registry)
            return known


async def _run_apart(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what takes long for ten thousand clients in a thread, which lets requests go first."""

    def run() -> T:
        with short_turns(), collector_paused():
            return work(*args, **kwargs)

    return await asyncio.to_thread(run)
