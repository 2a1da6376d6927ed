"""Guards handlers of Litestar."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from litestar import MediaType, get
from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler

from oauth_resource_server.guards import BaseGuard, read_asgi
from oauth_resource_server.refusals import Refusal

Connection = ASGIConnection[Any, Any, Any, Any]


class Guard(BaseGuard):
    """`guards=[guard("orders.read")]` of a handler, controller or router; the caller is in `request.state.caller`."""

    def __call__(
        self, *scope: str, acr: str | Iterable[str] = (), max_age: int | None = None
    ) -> Callable[[Connection, BaseRouteHandler], Awaitable[None]]:
        """Return the guard of handlers that need these."""
        demand = self._demand(scope, acr, max_age)

        async def guarded(connection: Connection, _: BaseRouteHandler) -> None:
            try:
                caller = await self.server.authenticate(read_asgi(dict(connection.scope)), demand)
            except Refusal as refusal:
                headers = dict(refusal.headers)
                del headers["Content-Type"]  # Litestar's own
                raise HTTPException(
                    refusal.description,
                    status_code=refusal.status,
                    headers=headers,
                    extra={"error": refusal.error},
                ) from refusal
            connection.state.caller = caller

        return guarded

    def metadata_handler(self) -> HTTPRouteHandler:
        """Return the handler of the metadata document, for the application's list (RFC 9728)."""

        @get(self._metadata_path(), media_type=MediaType.JSON, include_in_schema=False)
        async def show_protected_resource() -> bytes:
            return self.metadata()

        return show_protected_resource
