"""Ends a session for its user, and lists the URIs by which the browser tells clients (OIDC Front-Channel Logout §2, §3)."""

from __future__ import annotations

from dataclasses import dataclass

from service.clients.directory import Clients
from service.identity.sessions import Sessions
from service.model.events import Emit, LoggedOut
from service.model.session import Session
from service.protocol.redirect_uri import with_query


@dataclass(frozen=True, slots=True, kw_only=True)
class UserLogout:
    issuer: str
    clients: Clients
    sessions: Sessions
    emit: Emit

    async def end(self, session: Session) -> tuple[str, ...]:
        """End the session, and return the URI of each enabled client in it that has one; its query is kept (§2)."""
        took_part = await self.sessions.end(session)
        self.emit(LoggedOut(subject=session.subject, session_id=session.id))
        uris: list[str] = []
        for client_id in took_part:
            client = await self.clients.find(client_id)
            if client is None or not client.enabled or client.frontchannel_logout_uri is None:
                continue
            uri = client.frontchannel_logout_uri
            if client.frontchannel_logout_session_required:
                uri = with_query(uri, {"iss": self.issuer, "sid": session.id})
            uris.append(uri)
        return tuple(uris)
