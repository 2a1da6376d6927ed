"""The authorization requests that rows spoil: pushed, by a browser, by request_uri, in request objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urljoin

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.service import claims_in
from tests.refusals.attempts import outcome_of
from tests.refusals.row import Outcome
from tests.refusals.world import App, World
from tests.request_objects.sending import Sender


def outcome_of_page(page: Page, app: ClientApp, state: str | None) -> Outcome:
    """Return how the browser was answered; a refusal at the client brings `state` back, be it in a JWT."""
    if page.url.startswith(app.service.issuer) and not any(f.id == "form-post" for f in page.forms):
        assert page.status != 400 or not page.leads_out
        return page.status, page.error
    response = page.parameters
    if "response" in response:
        assert response.keys() == {"response"}
        response = claims_in(response["response"])
    assert response.get("state") == state
    assert response["iss"] == app.service.issuer
    return page.status, response.get("error")


async def visit(app: ClientApp, url: str, form: Mapping[str, str] | None = None) -> Page:
    """Send the browser to the authorize endpoint, and not beyond its answer."""
    method = "GET" if form is None else "POST"
    session = app.browser.session
    async with session.request(method, url, data=form, allow_redirects=False) as answer:
        location = answer.headers.get("Location")
        return Page(
            urljoin(url, location or ""), answer.status, answer.headers, await answer.text()
        )


@dataclass(frozen=True)
class Push:
    """An authorization request is pushed; `usual` changes what is right."""

    client_id: str = "web"
    usual: Mapping[str, Any] = field(default_factory=dict)
    headers: Callable[[World], dict[str, str]] = lambda _: {}

    def __str__(self) -> str:
        return f"pushed request of {self.client_id}"

    async def hold(self, world: World) -> App:
        return world.app(self.client_id)

    async def send(self, world: World, held: App, **changes: Any) -> Outcome:
        headers = changes.pop("headers", self.headers)(world)
        auth = None if held.is_public else changes.pop("auth", self.client_id)
        form: dict[str, Any] = {**held.parameters(), **self.usual, **changes}
        return outcome_of(
            await world.service.post("/connect/par", auth=auth, headers=headers, **form)
        )


@dataclass(frozen=True)
class Authorize:
    """The browser comes with an authorization request; `usual` changes what is right."""

    client_id: str = "web"
    usual: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"authorization request of {self.client_id}"

    async def hold(self, world: World) -> App:
        return world.app(self.client_id)

    async def send(self, world: World, held: App, **changes: Any) -> Outcome:
        form = held.parameters(**{**self.usual, **changes})
        page = await visit(held, f"{world.service.issuer}/connect/authorize", form)
        return outcome_of_page(page, held, form.get("state"))


@dataclass(frozen=True)
class Pushed:
    """The browser comes with a request_uri."""

    def __str__(self) -> str:
        return "request_uri"

    async def hold(self, world: World) -> tuple[App, str]:
        app = world.app("web")
        form: dict[str, Any] = {**app.parameters()}
        answer = await world.service.post("/connect/par", auth="web", **form)
        return app, answer["request_uri"]

    async def send(self, world: World, held: tuple[App, str], **changes: str) -> Outcome:
        app, request_uri = held
        query = urlencode({"client_id": "web", "request_uri": request_uri} | changes)
        page = await visit(app, f"{world.service.issuer}/connect/authorize?{query}")
        return outcome_of_page(page, app, "the-state")


@dataclass(frozen=True)
class RequestObject:
    """The browser comes with a request object, which counts before the parameters outside; `usual` changes what is right."""

    client_id: str = "web"
    alg: str = "ES256"
    usual: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"request object of {self.client_id}"

    async def hold(self, world: World) -> App:
        return world.app(self.client_id)

    async def send(
        self,
        world: World,
        held: App,
        *,
        make: Callable[[Sender], str] | None = None,
        beside: Mapping[str, Any] | None = None,
        alg: str | None = None,
        **changes: Any,
    ) -> Outcome:
        sender, changes = Sender(held), {**self.usual, **changes}
        if make is not None:
            request = make(sender)
        elif self.alg == "none" and alg is None:
            request = sender.unsigned(**changes)
        else:
            request = await sender.signed(alg or self.alg, **changes)
        outside = {"redirect_uri": held.redirect_uri, "state": "the-state", **(beside or {})}
        url = sender.url(request=request, **outside)
        page = await visit(held, world.service.issuer + url)
        return outcome_of_page(page, held, "the-state")


@dataclass(frozen=True)
class PushedObject:
    """A request object is pushed."""

    def __str__(self) -> str:
        return "pushed request object"

    async def hold(self, world: World) -> App:
        return world.app("web")

    async def send(self, world: World, held: App, **changes: Any) -> Outcome:
        request = await Sender(held).signed(**changes)
        return outcome_of(await world.service.post("/connect/par", auth="web", request=request))
