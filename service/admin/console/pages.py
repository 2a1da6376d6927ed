"""The pages of the console: how the service is, why a token is inactive, what waits, and the way in and out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import msgspec
from aiohttp import web

from service.admin.console.changes import PATH as CONFIRM
from service.admin.console.changes import SIGNED_OUT, Confirmation
from service.admin.console.registry_pages import RegistryPages
from service.admin.console.sign_in import SignInUnknown, find_page
from service.admin.console.user_pages import UserPages
from service.admin.console.visits import ConsoleVisits, Visit
from service.admin.explain import explain
from service.admin.explain.parts import CannotExplain, Rows
from service.admin.reading import Views, read_outbox
from service.admin.views.keys import show_keys
from service.admin.views.page import Paging
from service.admin.views.registry import show_registry
from service.protocol.redirect_uri import with_query
from service.store.memory import StoreMemory
from service.web.endpoint import Answer, Direct, Message
from service.web.pages.cookies import Cookie

LONGEST_SUBJECT = 8192
"""Characters of a token or URL that is to be explained."""


class Health(Protocol):
    """The state of this replica as load balancers see it."""

    def find_reasons(self) -> Iterable[str]: ...
    def find_degradations(self) -> Iterable[str]: ...


class Console(msgspec.Struct, frozen=True, kw_only=True):
    """Every page is for operators that `readers` or `writers` include."""

    issuer: str
    visits: ConsoleVisits
    views: Views
    health: Health
    memory: StoreMemory
    registry_pages: RegistryPages
    user_pages: UserPages
    confirmation: Confirmation

    def routes(self) -> Iterable[web.RouteDef]:
        pages = {
            "/": self.overview,
            "/clients": self.registry_pages.clients,
            "/client": self.registry_pages.client,
            "/api": self.registry_pages.api,
            "/registered-clients": self.registry_pages.registered_clients,
            "/users": self.user_pages.users,
            "/user": self.user_pages.user,
            "/explain": self.ask_what_to_explain,
            "/outbox": self.outbox,
            CONFIRM: self.confirmation.page,
            "/callback": self.callback,
            SIGNED_OUT: self.signed_out,
        }
        forms = {
            "/explain": self.explain,
            CONFIRM: self.confirmation.submit,
            "/sign-out": self.sign_out,
        }
        around = self.visits.around
        routes = (
            *(Direct("GET", path, around(handler)) for path, handler in pages.items()),
            *(Direct("POST", path, around(handler)) for path, handler in forms.items()),
        )
        # aiohttp serves them all, because a middleware judges the Host.
        return (*(route.for_aiohttp() for route in routes), *self.visits.pages.routes())

    async def overview(self, request: Message) -> Answer:
        """Show health, store, keys, registry with its last refused reload, and outbox."""
        visit = await self.visits.open_page(request)
        reasons, memory = list(self.health.find_reasons()), self.memory
        context = {
            "here": "/",
            "issuer": self.issuer,
            "health": {
                "is_ready": not reasons,
                "reasons": reasons,
                "degradations": list(self.health.find_degradations()),
            },
            "store": {
                "seconds_away": memory.kv.seconds_away,
                "used": memory.used,
                "limit": memory.limit,
            },
            "registry": show_registry(self.views.registry),
            "keys": show_keys(self.views.keys).items,
            "outbox": await self.views.outboxes.counts(),
        }
        return self.visits.show(visit, "overview", context)

    async def ask_what_to_explain(self, request: Message) -> Answer:
        """Show the form; an address is never read for a token."""
        visit = await self.visits.open_page(request)
        return self._show_explanation(visit)

    async def explain(self, request: Message) -> Answer:
        """Say why a token is inactive, or a request is refused; nothing of it is kept or shown again."""
        visit = await self.visits.open_form(request)
        subject = (visit.params.get("subject") or "").strip()
        if not subject or len(subject) > LONGEST_SUBJECT:
            return self._show_explanation(visit, problem="paste one token, or one URL")
        try:
            facts = await explain(self.views.explained, subject)
        except CannotExplain as error:
            return self._show_explanation(visit, problem=str(error))
        return self._show_explanation(visit, facts=facts)

    def _show_explanation(
        self, visit: Visit, *, facts: Rows | None = None, problem: str = ""
    ) -> Answer:
        context = {"here": "/explain", "facts": facts, "problem": problem}
        return self.visits.show(visit, "explain", {"longest": LONGEST_SUBJECT, **context})

    async def outbox(self, request: Message) -> Answer:
        """Show the messages that wait, or the dead letters."""
        visit = await self.visits.open_page(request)
        state = visit.params.get("state") or "waiting"
        view = await read_outbox(self.views.outboxes, state, Paging(visit.params.get("cursor")))
        context = {
            "here": "/outbox",
            "own_path": with_query("/outbox", {"state": state}),
            "state": state,
            "outbox": view,
        }
        return self.visits.show(visit, "outbox", context)

    async def callback(self, request: Message) -> Answer:
        """Take the answer to a sign-in, and begin a session of the console.

        An operator who is signed in by then has come from a second tab, or back: there is nothing more to do.
        """
        visits, answer = self.visits, self.visits.read_answer(request)
        try:
            browser = visits.cookies.get(request, Cookie.BROWSER)
            person, path = await visits.sign_in.finish(browser, answer)
        except SignInUnknown:
            cookie = visits.cookies.get(request, Cookie.SESSION)
            if await visits.operators.find(cookie) is None:
                raise
            return visits.go(find_page(answer))
        cookie = await visits.begin(request, person)
        response = visits.go(path)
        visits.cookies.set(response, Cookie.SESSION, cookie, max_age=None)
        visits.cookies.set(response, Cookie.BROWSER, "", max_age=0)
        return response

    async def sign_out(self, request: Message) -> Answer:
        """End the session."""
        visit = await self.visits.open_form(request)
        await self.visits.end(visit)
        response = self.visits.go(SIGNED_OUT)
        self.visits.cookies.set(response, Cookie.SESSION, "", max_age=0)
        return response

    async def signed_out(self, request: Message) -> Answer:
        """Say that the operator is signed out."""
        context = {
            "heading": "You are signed out",
            "text": "The session of the console has ended, and with it the one at the service.",
            "continue_href": self.visits.pages.url("/"),
        }
        return self.visits.show_message(request, context, status=200)
