"""Guards endpoints of Starlette."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from oauth_resource_server.guards import BaseGuard, read_asgi
from oauth_resource_server.refusals import Refusal

Endpoint = Callable[[Request], Any]


class Guard(BaseGuard):
    """`@guard("orders.read")` above an endpoint; the caller is in `request.state.caller`."""

    def __call__(
        self, *scope: str, acr: str | Iterable[str] = (), max_age: int | None = None
    ) -> Callable[[Endpoint], Endpoint]:
        """Return the decorator of an endpoint that needs these."""
        demand = self._demand(scope, acr, max_age)

        def decorate(endpoint: Endpoint) -> Endpoint:
            @wraps(endpoint)
            async def guarded(request: Request) -> Any:
                try:
                    caller = await self.server.authenticate(read_asgi(request.scope), demand)
                except Refusal as refusal:
                    return Response(refusal.body, refusal.status, refusal.headers)
                request.state.caller = caller
                if iscoroutinefunction(endpoint):
                    return await endpoint(request)
                return await run_in_threadpool(endpoint, request)

            return guarded

        return decorate

    def publish_metadata(self, app: Starlette) -> None:
        """Add the route of the metadata document (RFC 9728)."""

        async def show(_: Request) -> Response:
            return Response(self.metadata(), media_type="application/json")

        app.add_route(self._metadata_path(), show, include_in_schema=False)
