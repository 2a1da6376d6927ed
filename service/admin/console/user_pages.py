"""The pages about users: find one, and see sessions, grants and factors."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from service.admin.console.visits import ConsoleVisits, NotFound
from service.admin.views.page import Page, Paging
from service.admin.views.users import UserView, UserViews
from service.identity.factors.stored import FactorsUnreadable
from service.protocol.errors import InvalidRequest
from service.protocol.redirect_uri import with_query
from service.web.endpoint import Answer, Message

SEARCHES = ("username", "email", "sub", "session", "grant")


class UserPages(msgspec.Struct, frozen=True, kw_only=True):
    visits: ConsoleVisits
    views: UserViews

    async def users(self, request: Message) -> Answer:
        """Find a user by what the operator types."""
        visit = await self.visits.open_page(request)
        by, asked = visit.params.get("by") or SEARCHES[0], visit.params.get("text") or ""
        if by not in SEARCHES:
            raise InvalidRequest(f"by is none of {', '.join(SEARCHES)}")
        found, problem = None, ""
        try:
            found = await self._find(by, asked) if asked else None
        except InvalidRequest as error:
            problem = error.description
        if isinstance(found, str):
            return self.visits.go(found)
        if found:
            return self.visits.go(with_query("/user", {"sub": found[0].sub}))
        context = {"here": "/users", "by": by, "asked": asked, "found": found, "problem": problem}
        return self.visits.show(visit, "users", context)

    async def _find(self, by: str, asked: str) -> Sequence[UserView] | str:
        """Return the users, or the page with the session or grant that is asked for."""
        if by not in {"session", "grant"}:
            return (await self.views.find_users(by, asked)).items
        view = await (self.views.find_session if by == "session" else self.views.find_grant)(asked)
        if view is None or view.sub is None:
            return ()
        return with_query("/user", {"sub": view.sub}) + f"#{by}-{view.id}"

    async def user(self, request: Message) -> Answer:
        """Show one user."""
        visit = await self.visits.open_page(request)
        params, sub = visit.params, visit.params.get("sub") or ""
        user = await self.views.find_user(sub) if sub else None
        if user is None:
            raise NotFound("there is no such user")
        cursors = {params.get("part"): params.get("cursor")}
        none = Page[object](items=())
        context = {
            "here": "/users",
            "own_path": with_query("/user", {"sub": sub}),
            "user": user,
            "sessions": await self.views.list_sessions(sub, Paging(cursors.get("sessions")))
            or none,
            "grants": await self.views.list_grants(sub, Paging(cursors.get("grants"))) or none,
            "factors": await self._find_factors(sub) or none,
        }
        return self.visits.show(visit, "user", context)

    async def _find_factors(self, sub: str) -> object:
        """Return the factors; none where no configured key decrypts them, which the user's page says."""
        try:
            return await self.views.list_factors(sub)
        except FactorsUnreadable:
            return None
