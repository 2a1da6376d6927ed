"""Guards views of Django, blocking and asynchronous ones."""

from __future__ import annotations

# pyright: reportMissingTypeStubs=false
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from oauth_resource_server.caller import Demand
from oauth_resource_server.guards import BaseGuard, read_asgi, read_wsgi
from oauth_resource_server.refusals import Refusal
from oauth_resource_server.request import Request

View = Callable[..., Any]


class Guard(BaseGuard):
    """`@guard("orders.read")` above a view; the caller is in `request.caller`."""

    def __call__(
        self, *scope: str, acr: str | Iterable[str] = (), max_age: int | None = None
    ) -> Callable[[View], View]:
        """Return the decorator of a view that needs these."""
        demand = self._demand(scope, acr, max_age)
        return lambda view: (
            self._decorate_async(view, demand)
            if iscoroutinefunction(view)
            else self._decorate(view, demand)
        )

    def _decorate(self, view: View, demand: Demand) -> View:
        @wraps(view)
        def guarded(request: Any, *arguments: Any, **named: Any) -> Any:
            try:
                request.caller = self.server.authenticate_blocking(_read(request), demand)
            except Refusal as refusal:
                return _answer(refusal)
            return view(request, *arguments, **named)

        return guarded

    def _decorate_async(self, view: View, demand: Demand) -> View:
        @wraps(view)
        async def guarded(request: Any, *arguments: Any, **named: Any) -> Any:
            try:
                request.caller = await self.server.authenticate(_read(request), demand)
            except Refusal as refusal:
                return _answer(refusal)
            return await view(request, *arguments, **named)

        return guarded

    def metadata_url_pattern(self) -> URLPattern:
        """Return the pattern of the metadata document, for `urlpatterns` (RFC 9728)."""

        def show(_: HttpRequest) -> HttpResponse:
            return HttpResponse(self.metadata(), content_type="application/json")

        return cast("URLPattern", path(self._metadata_path().removeprefix("/"), show))


def _answer(refusal: Refusal) -> HttpResponse:
    return HttpResponse(refusal.body, status=refusal.status, headers=refusal.headers)


def _read(request: HttpRequest) -> Request:
    scope = getattr(request, "scope", None)
    environ = cast("Mapping[str, Any]", request.META)
    return read_wsgi(environ) if scope is None else read_asgi(scope)
