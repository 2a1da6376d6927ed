"""/metrics: counters and histograms for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiohttp import web

from service.observe.metrics import Metrics


@dataclass(frozen=True, slots=True)
class MetricsEndpoint:
    metrics: Metrics

    def routes(self) -> Iterable[web.RouteDef]:
        return (web.get("/metrics", self.show),)

    async def show(self, request: web.Request) -> web.Response:
        return web.Response(
            body=self.metrics.render(), headers={"Content-Type": self.metrics.content_type}
        )
