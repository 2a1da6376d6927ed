"""/health/live, /health/ready and /metrics: for load balancers and Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Literal

import msgspec
from aiohttp import web
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from service.keys.keyring import KeyRing
from service.model.registry import LiveRegistry
from service.model.request_context import current_request
from service.store.keyvalue import StoreUnavailable
from service.store.memory import StoreMemory
from service.web.endpoint import Answer, Direct, Fields, Message, json_answer

_METRICS = Fields({"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})
PROBE_SECONDS = 0.25
"""Until the store has to answer; load balancers allow a second for all."""


class OperationsEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A restart mends neither the store nor the keys, so liveness never depends on them."""

    render_metrics: Callable[[], bytes]
    ring: KeyRing
    memory: StoreMemory
    registry: LiveRegistry
    draining: asyncio.Event
    unready_after: float | Literal["never"]

    def routes(self) -> Iterable[web.RouteDef]:
        handlers = {
            "/health/live": self.live,
            "/health/ready": self.ready,
            "/metrics": self.metrics,
        }
        return [Direct("GET", path, handler).for_aiohttp() for path, handler in handlers.items()]

    async def live(self, _: Message) -> Answer:
        return json_answer({"status": "live"})

    async def ready(self, _: Message) -> Answer:
        if (current := current_request.get()) is not None:
            current.store_seconds = PROBE_SECONDS
        with suppress(StoreUnavailable):
            await self.memory.kv.ping()  # so that an idle process notices, too
        reasons = list(self.find_reasons())
        registry = self.registry.current.generation  # so that replicas can be compared
        if reasons:
            unready = {"status": "unready", "reasons": reasons, "registry": registry}
            return json_answer(unready, status=503)
        ready: dict[str, object] = {"status": "ready", "registry": registry}
        if degraded := list(self.find_degradations()):
            ready["degraded"] = degraded
        return json_answer(ready)

    async def metrics(self, _: Message) -> Answer:
        return Answer(_METRICS, self.render_metrics())

    def find_degradations(self) -> Iterator[str]:
        """Yield what is wrong at all replicas alike, and leaves each of them ready."""
        memory = self.memory
        if memory.kv.seconds_away:
            yield self._describe_absence()
        if refusals := memory.kv.recent_refusals:
            yield f"store: has refused within the last minute ({', '.join(refusals)})"
        if memory.is_nearly_full:
            yield f"store: {memory.used} of {memory.limit} bytes are used"
        if memory.evicting_policy is not None:
            yield f"store: keys may be evicted (maxmemory-policy {memory.evicting_policy})"

    def find_reasons(self) -> Iterator[str]:
        """Yield why this replica gets no requests."""
        if self.draining.is_set():
            yield "draining: the process is about to stop"
        if self.ring.missing:
            yield f"keys: none to sign with {', '.join(self.ring.missing)}"
        after = self.unready_after
        if after != "never" and self.memory.kv.seconds_away >= after:
            yield self._describe_absence()

    def _describe_absence(self) -> str:
        return f"store: has not answered for {self.memory.kv.seconds_away:.0f} s"
