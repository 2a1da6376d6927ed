"""A request to sign out, and how far it can be trusted (OpenID Connect RP-Initiated Logout §2, §3)."""

from __future__ import annotations

from dataclasses import dataclass

from service.clients.directory import Clients
from service.model.client import Client
from service.model.session import Session
from service.protocol.params import Params
from service.protocol.redirect_uri import with_query
from service.tokens.id_token_hint import Hint, IdTokenHints

PARAMETERS = frozenset(
    {"id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"}
)
"""What such a request says; `logout_hint` is not needed, for it is the browser's session that ends (§2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutRequest:
    """Who sent the person here, whom it means, and where the person may go afterwards."""

    client: Client | None
    hint: Hint | None
    """A valid id_token_hint, expired or not."""
    wanted_uri: str | None
    """The post-logout redirect URI as it was sent."""
    continue_uri: str | None
    """The same with `state`, if it belongs to the client and nothing is amiss."""
    ui_locales: str | None

    @property
    def shown_client(self) -> Client | None:
        """The client to name on pages; none that registered itself, for a link alone leads here."""
        return None if self.client is None or self.client.dynamically_registered else self.client

    def must_ask(self, session: Session | None) -> bool:
        """Whether only the person can say that this session is to end; a stranger is not asked."""
        if session is None:
            return False
        refused = self.wanted_uri is not None and self.continue_uri is None
        return refused or not self._is_about(session)

    def continue_after(self, session: Session | None) -> str | None:
        """Where the person goes; nowhere after a hint about somebody else."""
        foreign = self.hint and session and not self.hint.user.has_subject(session.subject)
        return None if foreign else self.continue_uri

    def _is_about(self, session: Session) -> bool:
        """Whether the hint proves that this session's own client asks.

        It names the session: who signs identity tokens by a secret can make up all the rest.
        """
        if self.hint is None or not self.hint.user.has_subject(session.subject):
            return False
        return self.hint.claims.get("sid") == session.id


async def read_logout_request(
    params: Params, clients: Clients, hints: IdTokenHints
) -> LogoutRequest:
    """Read it; what does not fit together is not refused, it only earns no redirect (§4)."""
    sent_hint, named = params.get("id_token_hint"), params.get("client_id")
    sender = await clients.find(named) if named else None
    hint = await hints.read(sent_hint, sender=sender) if sent_hint else None
    audience = hint.client.client_id if hint else None
    agree = (hint is not None or sent_hint is None) and (
        not (named and audience) or named == audience
    )
    client = await clients.find(named or audience or "") if agree else None
    client = client if client is not None and client.enabled else None
    return LogoutRequest(
        client=client,
        hint=hint if agree else None,
        wanted_uri=params.get("post_logout_redirect_uri"),
        continue_uri=_continue_uri(params, client),
        ui_locales=params.get("ui_locales"),
    )


def _continue_uri(params: Params, client: Client | None) -> str | None:
    """The URI if the client registered exactly this one, with the request's state (§2, §3)."""
    uri, state = params.get("post_logout_redirect_uri"), params.get("state")
    if uri is None or client is None or uri not in client.post_logout_redirect_uris:
        return None
    return uri if state is None else with_query(uri, {"state": state})
