"""Guards handlers of aiohttp's server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import wraps

from aiohttp import web

from oauth_resource_server.caller import Caller
from oauth_resource_server.guards import BaseGuard
from oauth_resource_server.refusals import Refusal
from oauth_resource_server.request import Request

CALLER = web.RequestKey("caller", Caller)
"""Where the caller is: `request[CALLER]`."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Guard(BaseGuard):
    """`@guard("orders.read")` above a handler."""

    def __call__(
        self, *scope: str, acr: str | Iterable[str] = (), max_age: int | None = None
    ) -> Callable[[Handler], Handler]:
        """Return the decorator of a handler that needs these."""
        demand = self._demand(scope, acr, max_age)

        def decorate(handler: Handler) -> Handler:
            @wraps(handler)
            async def guarded(request: web.Request) -> web.StreamResponse:
                try:
                    request[CALLER] = await self.server.authenticate(_read(request), demand)
                except Refusal as refusal:
                    return web.Response(
                        body=refusal.body, status=refusal.status, headers=refusal.headers
                    )
                return await handler(request)

            return guarded

        return decorate

    def metadata_route(self) -> web.RouteDef:
        """Return the route of the metadata document (RFC 9728)."""

        async def show(_: web.Request) -> web.Response:
            return web.Response(body=self.metadata(), content_type="application/json")

        return web.get(self._metadata_path(), show)


def _read(request: web.Request) -> Request:
    tls = request.get_extra_info("ssl_object")
    return Request(
        method=request.method,
        path=request.rel_url.raw_path,
        headers=[(name.lower(), value) for name, value in request.headers.items()],
        certificate=tls.getpeercert(True) if tls else None,
        peer=request.remote or None,
    )
