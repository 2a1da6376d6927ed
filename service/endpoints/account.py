"""/account: the user sees and ends the own sessions, consents and grants (RFC 7009 §1)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from service.identity.access import ClientAccess, GrantedAccess
from service.logout.request import UserLogout
from service.model.client import Client
from service.model.session import Session
from service.protocol.errors import InvalidRequest
from service.protocol.paths import ACCOUNT
from service.tokens.claims import claims_of_scope
from service.web.endpoint import Answer, Direct, Message
from service.web.pages.display import PageOf, is_page_number, page_of, shown_scopes, shown_summaries
from service.web.visits import Visit, Visits


class AccountEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    visits: Visits
    logout: UserLogout
    access: GrantedAccess

    def routes(self) -> Iterable[Direct]:
        return self.visits.errors.page_and_form(ACCOUNT, self.page, self.submit)

    async def page(self, request: Message) -> Answer:
        """Show the account, or the login page if nobody is signed in."""
        visit = await self.visits.open_page(request)
        session = await self.visits.visitors.find_own_session(visit.visitor)
        if session is None:
            return await self.visits.ask_for_session(visit, ACCOUNT)
        asked = visit.params
        sessions = await self._sessions(session, asked.get("sessions"))
        granted = page_of(await self.access.find_all_of(session.subject), asked.get("grants"))
        finding = [self.visits.flow.reader.clients.find(each.client_id) for each in granted.items]
        clients = await asyncio.gather(*finding)
        found = await self._find_applications(clients, asked.get("client_id"))
        applications = page_of(found, asked.get("applications"))
        shown = [self._application(client, clients) for client in applications.items]
        context = {
            "action": ACCOUNT,
            "user": await self.visits.shown_user(visit.visitor),
            "sessions": sessions.items,
            "applications": shown,
            "grants": list(map(self._grant, granted.items, clients)),
            "paging": {"sessions": sessions, "applications": applications, "grants": granted},
        }
        logos = [client.logo_uri for client in clients if client is not None]
        logos += [application["logo_uri"] for application in shown]
        return self.visits.show(visit, "account.html", images=logos, context=context)

    async def submit(self, request: Message) -> Answer:
        """End sessions, or revoke what a client was granted; the form of another user changes nothing."""
        visit = await self.visits.open_form(request)
        current, params = await self.visits.visitors.find_own_session(visit.visitor), visit.params
        if current is None:
            return await self.visits.ask_for_session(visit, ACCOUNT)
        if visit.form_session is None:
            return self.visits.go(visit, ACCOUNT)
        match params.get("action"):
            case "end-session" if params.require("session") == current.id:
                return await self._sign_out(visit, current)
            case "end-session":
                await self._end_one(current, params.require("session"))
                return self._go_back(visit, "sessions")
            case "end-other-sessions":
                await self._end_others(current)
            case "revoke":
                await self.access.revoke(current.subject, params.require("client_id"))
                return self._go_back(visit, "grants")
            case _:
                raise InvalidRequest("action is not end-session, end-other-sessions or revoke")
        return self.visits.go(visit, ACCOUNT)

    def _go_back(self, visit: Visit, listed: str) -> Answer:
        """Show the account again, at the page of the list that the form was on."""
        number = visit.params.get("list_page")
        place = f"?{listed}={number}#{listed}" if is_page_number(number) else ""
        return self.visits.go(visit, ACCOUNT + place)

    async def _end_one(self, current: Session, sid: str) -> None:
        """End a session of the same user; another user's is left alone."""
        session = await self.visits.visitors.sessions.find_by_id(sid)
        if session is not None and session.subject == current.subject:
            await self.visits.visitors.sessions.end(session)

    async def _end_others(self, current: Session) -> None:
        sessions = self.visits.visitors.sessions
        found = await sessions.find_all_of(current.subject)
        await sessions.end(*[one for one in found if one.id != current.id])

    async def _sign_out(self, visit: Visit, current: Session) -> Answer:
        """End this browser's session; frames tell the clients that use front-channel logout."""
        frames = await self.logout.end(current)
        if frames:
            context = {"client": None, "continue_uri": None, "frontchannel_uris": frames}
            response = self.visits.pages.render(
                visit.request, "logged_out.html", frame_src=frames, context=context
            )
        else:
            response = self.visits.go(visit, ACCOUNT)
        self.visits.cookies.clear_session(response)
        return response

    async def _sessions(self, current: Session, wanted: str | None) -> PageOf[Mapping[str, Any]]:
        sessions = await self.visits.visitors.sessions.find_all_of(current.subject)
        uses = await self.visits.visitors.sessions.find_last_uses(sessions)
        shown: list[Mapping[str, Any]] = [
            {
                "id": session.id,
                "user_agent": session.user_agent,
                "address": session.address,
                "created_at": session.started_at,
                "last_used_at": used,
                "current": session.id == current.id,
            }
            for session, used in zip(sessions, uses, strict=True)
        ]
        shown.sort(key=lambda each: (not each["current"], -each["last_used_at"]))
        return page_of(shown, wanted)

    async def _find_applications(
        self, granted: Sequence[Client | None], named: str | None
    ) -> list[Client]:
        """Return the clients of config.yaml that a login can begin at, those with grants on this page, and the one that is named."""
        configured = self.visits.registry.clients.values()
        sender = await self.visits.flow.reader.clients.find(named) if named else None
        found = {one.client_id: one for one in (*configured, *granted, sender) if one is not None}
        return [one for one in found.values() if one.enabled and one.initiate_login_uri]

    def _application(self, client: Client, granted: Sequence[Client | None]) -> Mapping[str, Any]:
        """Return the link that begins a login at the client.

        Anybody can link here for a dynamically registered client, so only its host is shown (OIDC Core §4).
        """
        host = urlsplit(client.initiate_login_uri or "").hostname or ""
        is_known = client in granted or not client.dynamically_registered
        shown = client if is_known else client.under_host(host)
        href = client.find_start_uri(self.visits.flow.reader.issuer)
        return {"client": shown, "logo_uri": shown.logo_uri, "host": host, "href": href}

    def _grant(self, access: ClientAccess, client: Client | None) -> dict[str, object]:
        """Return what a client may do; of a deleted one only the id is known."""
        registry = self.visits.registry
        deleted = {"client_id": access.client_id, "client_name": None, "logo_uri": None}
        return {
            "client": client or deleted,
            "scopes": shown_scopes(registry, access.scope),
            "details": shown_summaries(registry, access.authorization_details),
            "more_details": access.more_details,
            "claims": sorted(access.claims.difference(claims_of_scope(registry, access.scope))),
            "granted_at": access.since,
        }
