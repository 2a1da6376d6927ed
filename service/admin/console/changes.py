"""The changes that the console offers: rows of the admin API, which it asks for once more on a page of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

import msgspec

from service.admin.access import Caller
from service.admin.acting import Acting
from service.admin.api import AdminRequest, Reply
from service.admin.console.sign_in import is_page
from service.admin.console.visits import ConsoleVisits, NotFound, Visit
from service.admin.views.users import UserViews
from service.config.registry import CONSOLE_CLIENT
from service.protocol.errors import InvalidRequest
from service.protocol.params import Params
from service.protocol.redirect_uri import with_query
from service.web.endpoint import Answer, Message

PATH, SIGNED_OUT = "/confirm", "/signed-out"

RowAnswer = Callable[[Acting, AdminRequest], Awaitable[Reply]]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an operator may end, remove or do again."""

    name: str
    heading: str
    explanation: str
    button: str
    done: str
    """The sentence of the page afterwards."""
    answer: RowAnswer
    """The row of the admin API, which writes the audit event, too."""
    id_name: str = ""
    """The name that the row has for the id in its path; empty where it is about nothing in particular."""
    about: Literal["", "user", "session", "grant"] = ""
    """The kind of thing that has the id, where the page shows more than the id."""
    is_danger: bool = True


_ALL: tuple[Change, ...] = (
    Change(
        name="end-sessions",
        heading="End all sessions of this user?",
        explanation="The user is signed out everywhere, and the clients of each session are notified. "
        "Grants with offline access stay.",
        button="End all sessions",
        done="All sessions have ended.",
        answer=Acting.end_sessions,
        id_name="sub",
        about="user",
    ),
    Change(
        name="end-grants",
        heading="End all grants of this user?",
        explanation="All tokens of the user become inactive, and clients have to ask for consent again.",
        button="End all grants",
        done="All grants have ended.",
        answer=Acting.end_grants,
        id_name="sub",
        about="user",
    ),
    Change(
        name="remove-factors",
        heading="Remove all factors of this user?",
        explanation="The authenticator app, passkeys and recovery codes no longer work. "
        "Make sure that the user has asked for this.",
        button="Remove all factors",
        done="All factors have been removed.",
        answer=Acting.remove_factors,
        id_name="sub",
        about="user",
    ),
    Change(
        name="unlock",
        heading="Unlock this user?",
        explanation="Wrong passwords and codes are forgotten, so that the user can sign in at once.",
        button="Unlock",
        done="The user is unlocked.",
        answer=Acting.unlock,
        id_name="sub",
        about="user",
        is_danger=False,
    ),
    Change(
        name="end-session",
        heading="End this session?",
        explanation="The user is signed out at this device, and the clients of the session are notified.",
        button="End session",
        done="The session has ended.",
        answer=Acting.end_session,
        id_name="id",
        about="session",
    ),
    Change(
        name="end-grant",
        heading="End this grant?",
        explanation="All tokens that came from it become inactive.",
        button="End grant",
        done="The grant has ended.",
        answer=Acting.end_grant,
        id_name="id",
        about="grant",
    ),
    Change(
        name="end-client-grants",
        heading="End all grants of this client?",
        explanation="All tokens that users have granted the client become inactive, and it has to ask them "
        "for consent again. This walks through the whole store.",
        button="End all grants",
        done="All grants of the client have ended.",
        answer=Acting.end_grants_of_client,
        id_name="id",
    ),
    Change(
        name="delete-client",
        heading="Delete this registered client?",
        explanation="The client is unknown from now on, and its tokens are inactive.",
        button="Delete client",
        done="The client has been deleted.",
        answer=Acting.delete_client,
        id_name="id",
    ),
    Change(
        name="rotate-keys",
        heading="Announce the next signing keys?",
        explanation="Each algorithm gets its next key, unless one is announced already. It signs after the time that clients "
        "need to read it, and the present key stays published as long as its tokens last.",
        button="Announce",
        done="The next keys are announced.",
        answer=Acting.rotate_keys,
        is_danger=False,
    ),
    Change(
        name="retry",
        heading="Deliver this message again?",
        explanation="It is due at once, with no failures counted.",
        button="Retry",
        done="The message is due at once.",
        answer=Acting.retry,
        id_name="id",
        is_danger=False,
    ),
)
CHANGES: Mapping[str, Change] = {change.name: change for change in _ALL}


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """The page that asks once more, and its form."""

    visits: ConsoleVisits
    views: UserViews
    acting: Acting

    async def page(self, request: Message) -> Answer:
        """Ask; the operator may have to sign in again first."""
        visit = await self.visits.open_page(request)
        change, asked = self._read(visit)
        self.visits.check_may_write(visit, path=with_query(PATH, asked))
        described = await self._describe(change, asked["id"])
        return self.visits.show(visit, "confirm", {**asked, **described, "change": change})

    async def _describe(self, change: Change, changed_id: str) -> Mapping[str, object]:
        """Return what is to be changed, and whose it is, so that nobody has to know it by its id."""
        session = await self.views.find_session(changed_id) if change.about == "session" else None
        grant = await self.views.find_grant(changed_id) if change.about == "grant" else None
        found = session or grant
        sub = changed_id if change.about == "user" else found.sub if found else None
        user = await self.views.find_user(sub) if sub else None
        is_gone = change.about in {"session", "grant"} and found is None
        return {"session": session, "grant": grant, "user": user, "is_gone": is_gone}

    async def submit(self, request: Message) -> Answer:
        """Make the change, and return to the page that it was asked for at."""
        visit = await self.visits.open_form(request)
        change, asked = self._read(visit)
        self.visits.check_may_write(visit, path=with_query(PATH, asked))
        caller = Caller(client_id=CONSOLE_CLIENT, subject=visit.operator.subject, may_write=True)
        names = {change.id_name: asked["id"]} if change.id_name else {}
        row = AdminRequest(caller=caller, path=names, query=Params({}), read_body=_no_body)
        await change.answer(self.acting, row)
        if await self.visits.operators.find(visit.operator.cookie) is None:
            # It was the operator's own session; `form-action` allows no redirect to the login page.
            return self.visits.go(SIGNED_OUT)
        return self.visits.go(with_query(asked["back"], {"done": change.name}))

    def _read(self, visit: Visit) -> tuple[Change, dict[str, str]]:
        """Return the change, and what is asked for: its name, the id, and the page to return to."""
        change = CHANGES.get(visit.params.get("change") or "")
        if change is None:
            raise NotFound("there is no such change")
        changed_id, back = visit.params.get("id") or "", visit.params.get("back") or "/"
        if change.id_name and not changed_id:
            raise InvalidRequest("id is missing")
        asked = {"change": change.name, "id": changed_id, "back": back if is_page(back) else "/"}
        return change, asked


async def _no_body() -> Mapping[str, object]:
    return {}
