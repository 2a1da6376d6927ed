"""Reads a request to log out, decides how far it is trusted, and ends the session of its user.

(OpenID Connect RP-Initiated Logout §2, §3; OpenID Connect Front-Channel Logout §2, §3)
"""

from __future__ import annotations

from contextlib import suppress

import msgspec

from service.clients.directory import Clients
from service.events.users import LoggedOut
from service.identity.sessions import Sessions
from service.keys.jose import JwtRefused
from service.model.client import Client
from service.model.session import Session
from service.protocol.params import Params
from service.protocol.redirect_uri import with_query
from service.tokens.id_token import Hint, IdTokens

PARAMETERS = frozenset(
    {"id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"}
)
"""All that count; `logout_hint` does not, because it is the browser's session that ends (§2)."""


MAX_FRAMES = 50
"""Clients that one page tells of a logout; their origins make a header longer."""

MAX_CLIENTS = 500
"""Clients of a session among which those with frames are looked for; a program may let a user have thousands."""


class LogoutRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The client that sent the user here, the user that it names, and the URI to continue at."""

    client: Client | None
    hint: Hint | None
    """A valid id_token_hint, expired or not."""
    wanted_uri: str | None
    """The post-logout redirect URI as it was sent."""
    continue_uri: str | None
    """The same with `state`, if the client registered it."""
    ui_locales: str | None

    @property
    def shown_client(self) -> Client | None:
        """The client to name on pages; a link alone must not show the words of a dynamically registered one."""
        return None if self.client is None or self.client.dynamically_registered else self.client

    def must_ask(self, session: Session | None) -> bool:
        """Whether the user has to confirm that this session is to end."""
        if session is None:
            return False
        refused = self.wanted_uri is not None and self.continue_uri is None
        # The hint must name the session: a client that signs its ID tokens by a secret can make up the rest.
        proven = self.hint and self._names(session) and self.hint.claims.get("sid") == session.id
        return refused or not proven

    def continue_after(self, session: Session | None) -> str | None:
        """Return the URI to continue at; None if the hint names another user."""
        return None if self.hint and session and not self._names(session) else self.continue_uri

    def _names(self, session: Session) -> bool:
        return self.hint is not None and self.hint.user.has_subject(session.subject)


async def read_logout_request(params: Params, id_tokens: IdTokens) -> LogoutRequest:
    """Read the request; if its parameters contradict each other, nobody is redirected (§4)."""
    clients = id_tokens.clients
    text, named = params.get("id_token_hint"), params.get("client_id")
    sender = await clients.find(named) if named else None
    hint = None
    if text:
        with suppress(JwtRefused):
            hint = await id_tokens.read_hint(text, sender=sender)
    client_id = named or (hint.client.client_id if hint else "")
    contradicts = (text and hint is None) or (hint and hint.client.client_id != client_id)
    client = None if contradicts else await clients.find(client_id)
    client = client if client is not None and client.enabled else None
    uri, state = params.get("post_logout_redirect_uri"), params.get("state")
    continue_uri = uri if client and uri in client.post_logout_redirect_uris else None
    if continue_uri is not None and state is not None:
        continue_uri = with_query(continue_uri, {"state": state})
    return LogoutRequest(
        client=client,
        hint=None if contradicts else hint,
        wanted_uri=uri,
        continue_uri=continue_uri,
        ui_locales=params.get("ui_locales"),
    )


class UserLogout(msgspec.Struct, frozen=True, kw_only=True):
    issuer: str
    clients: Clients
    sessions: Sessions

    async def end(self, session: Session) -> tuple[str, ...]:
        """End the session, and return the URI of each enabled client in it that has one; its query is kept (§2).

        A browser loads only so many frames: MAX_FRAMES, of the first clients in the session.
        """
        took_part = await self.sessions.end(session)
        self.sessions.emit(LoggedOut(subject=session.subject, session_id=session.id))
        uris: list[str] = []
        for client_id in took_part[:MAX_CLIENTS]:
            if len(uris) == MAX_FRAMES:
                break
            client = await self.clients.find(client_id)
            if client is None or not client.enabled or client.frontchannel_logout_uri is None:
                continue
            uri = client.frontchannel_logout_uri
            if client.frontchannel_logout_session_required:
                uri = with_query(uri, {"iss": self.issuer, "sid": session.id})
            uris.append(uri)
        return tuple(uris)
