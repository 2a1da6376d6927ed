"""Guards endpoints of FastAPI."""

# Annotations are no strings here, because FastAPI reads them.
import json
from collections.abc import Iterable
from typing import Any

from fastapi import Depends, HTTPException
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from starlette.requests import Request

from oauth_resource_server.caller import Caller, Demand
from oauth_resource_server.guards import read_asgi
from oauth_resource_server.refusals import Refusal
from oauth_resource_server.server import ResourceServer
from oauth_resource_server.starlette import Guard as StarletteGuard


class Guard(StarletteGuard):
    """`caller: Annotated[Caller, guard("orders.read")]` as a parameter of an endpoint, or in `dependencies=[…]`."""

    def __call__(
        self, *scope: str, acr: str | Iterable[str] = (), max_age: int | None = None
    ) -> Any:
        """Return the dependency of an endpoint that needs these."""
        return Depends(_Authenticated(self.server, self._demand(scope, acr, max_age)))


class _Authenticated(SecurityBase):
    """Shows in the API's OpenAPI document, too."""

    def __init__(self, server: ResourceServer, demand: Demand) -> None:
        self.model = HTTPBearer(description=f"An access token of {server.issuer.url}")
        self.scheme_name = "AccessToken"
        self._server, self._demand = server, demand

    async def __call__(self, request: Request) -> Caller:
        try:
            return await self._server.authenticate(read_asgi(request.scope), self._demand)
        except Refusal as refusal:
            detail = json.loads(refusal.body)
            raise HTTPException(refusal.status, detail, refusal.headers) from refusal
