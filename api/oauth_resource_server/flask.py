"""Guards views of Flask."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from flask import Flask, Response, current_app, g, request

from oauth_resource_server.guards import BaseGuard, read_wsgi
from oauth_resource_server.refusals import Refusal

View = Callable[..., Any]


class Guard(BaseGuard):
    """`@guard("orders.read")` below a route; the caller is in `flask.g.caller`."""

    def __call__(
        self, *scope: str, acr: str | Iterable[str] = (), max_age: int | None = None
    ) -> Callable[[View], View]:
        """Return the decorator of a view that needs these."""
        demand = self._demand(scope, acr, max_age)

        def decorate(view: View) -> View:
            @wraps(view)
            def guarded(*arguments: Any, **named: Any) -> Any:
                try:
                    g.caller = self.server.authenticate_blocking(read_wsgi(request.environ), demand)
                except Refusal as refusal:
                    return Response(refusal.body, refusal.status, refusal.headers)
                return current_app.ensure_sync(view)(*arguments, **named)

            return guarded

        return decorate

    def publish_metadata(self, app: Flask) -> None:
        """Add the route of the metadata document (RFC 9728)."""

        def show() -> Response:
            return Response(self.metadata(), mimetype="application/json")

        app.add_url_rule(self._metadata_path(), "oauth_protected_resource", show)
