"""Lists the URIs that a browser loads to tell clients that a session has ended (OIDC Front-Channel Logout §2, §3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from service.clients.directory import Clients
from service.model.session import Session
from service.protocol.redirect_uri import with_query


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontChannel:
    """Finds the front-channel logout URIs of clients."""

    issuer: str
    clients: Clients

    async def find_uris(self, session: Session, client_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the URI of each enabled client that has one; a query in it is kept (§2)."""
        uris: list[str] = []
        for client_id in client_ids:
            client = await self.clients.find(client_id)
            if client is None or not client.enabled or client.frontchannel_logout_uri is None:
                continue
            uri = client.frontchannel_logout_uri
            if client.frontchannel_logout_session_required:
                uri = with_query(uri, {"iss": self.issuer, "sid": session.id})
            uris.append(uri)
        return tuple(uris)
