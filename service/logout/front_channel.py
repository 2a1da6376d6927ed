"""What the browser itself loads at clients to tell them that a session has ended (OpenID Connect Front-Channel Logout §2, §3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from service.clients.directory import Clients
from service.model.client import Client
from service.model.session import Session
from service.protocol.redirect_uri import with_query


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontChannel:
    """Knows what to load for which client; a client without a front-channel logout URI is not asked for it."""

    issuer: str
    clients: Clients

    async def uris(self, session: Session, client_ids: Iterable[str]) -> tuple[str, ...]:
        """One URI for each of these clients that wants to be told so, and still may be."""
        found = [await self.clients.find(client_id) for client_id in client_ids]
        uris = [self._uri(client, session) for client in found if client is not None]
        return tuple(uri for uri in uris if uri is not None)

    def _uri(self, client: Client, session: Session) -> str | None:
        """The client's own, with both parameters or none; a query that it has is kept (§2)."""
        uri = client.frontchannel_logout_uri
        if uri is None or not client.enabled:
            return None
        if not client.frontchannel_logout_session_required:
            return uri
        return with_query(uri, {"iss": self.issuer, "sid": session.id})
