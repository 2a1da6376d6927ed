"""Finds the client and the redirect URI of an authorization request; before that a refusal is a page."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace

from service.authorize.response_modes import RESPONSE_MODES
from service.clients.directory import Clients
from service.model.client import Client
from service.model.delivery import Delivery
from service.protocol.errors import InvalidRequest, OAuthError
from service.protocol.params import MAX_LENGTH, Params
from service.protocol.redirect_uri import origin_of
from service.protocol.refused_value import RefusedValue
from service.protocol.response_type import ResponseType, check_response_mode, parse_response_type
from service.protocol.scope import OPENID
from service.protocol.session_state import OPAQUE_ORIGIN, session_state


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTo:
    """The client and the redirect URI that it registered, with what every answer carries."""

    issuer: str
    client: Client
    redirect_uri: str
    response_mode: str
    state: str | None
    asks_for_identity: bool
    """Whether it is an authentication request (OIDC Core §3.1.2.1)."""
    session_state: str | None = None
    """By which the client notices that the login has changed; none before the browser is known."""

    def in_browser(self, browser_state: str) -> ReplyTo:
        """The same in front of a browser, for answers and refusals alike (OIDC Session Management §2)."""
        if not self.asks_for_identity:
            return self
        state = session_state(
            client_id=self.client.client_id,
            origin=origin_of(self.redirect_uri) or OPAQUE_ORIGIN,
            browser_state=browser_state,
            salt=secrets.token_urlsafe(12),
        )
        return replace(self, session_state=state)

    def deliver(self, parameters: Mapping[str, str]) -> Delivery:
        """Send parameters to the client, with `state`, `session_state` and `iss` (RFC 9207 §2)."""
        carried = {"state": self.state, "session_state": self.session_state, "iss": self.issuer}
        present = {name: value for name, value in carried.items() if value is not None}
        return RESPONSE_MODES[self.response_mode](self.redirect_uri, {**parameters, **present})

    def refuse(self, error: OAuthError) -> Delivery:
        """Send an error to the client (RFC 6749 §4.1.2.1)."""
        return self.deliver({"error": error.code, "error_description": error.description})


async def find_client(params: Params, clients: Clients) -> Client:
    """Return the client; raise InvalidRequest, for an error page, if it is unknown or disabled."""
    client_id = _required_once(params, "client_id", None)
    client = await clients.find(client_id)
    if client is None or not client.enabled:
        raise InvalidRequest(
            "client_id is not that of a registered client",
            refused=RefusedValue("client_id", client_id),
        )
    return client


def find_reply_to(params: Params, client: Client, *, issuer: str) -> ReplyTo:
    """Return the place of the answer; raise InvalidRequest, for an error page, if it is not registered."""
    redirect_uri = _required_once(params, "redirect_uri", client)
    is_too_long = len(redirect_uri) > MAX_LENGTH["redirect_uri"]
    if is_too_long or not client.has_redirect_uri(redirect_uri):
        raise InvalidRequest(
            "redirect_uri is not registered for this client, character by character",
            refused=RefusedValue("redirect_uri", redirect_uri, client.client_id),
        )
    return ReplyTo(
        issuer=issuer,
        client=client,
        redirect_uri=redirect_uri,
        response_mode=_mode_in_force(params, client),
        state=_only(params, "state"),
        asks_for_identity=OPENID in (_only(params, "scope") or "").split(),
    )


def _required_once(params: Params, name: str, client: Client | None) -> str:
    """Return a value without which a refusal cannot be sent; if it is sent twice, neither is trusted."""
    value = params.get(name)
    repeated = len(params.values.get(name, ())) > 1
    if value is None or repeated:
        raise InvalidRequest(
            f"{name} is sent more than once" if repeated else f"{name} is missing",
            refused=RefusedValue(name, value, client.client_id if client else None),
        )
    return value


def _mode_in_force(params: Params, client: Client) -> str:
    """The mode asked for if it is possible, else the client's or the response type's default.

    An unknown response type means query, because an error contains no token.
    """
    response_type = _response_type(params)
    asked = _only(params, "response_mode")
    if asked == "query" and response_type and response_type.from_front_channel:
        return "fragment"
    for mode in (asked, client.default_response_mode):
        if mode is not None:
            try:
                known = response_type or ResponseType("", *(False,) * 3)
                check_response_mode(mode, known, RESPONSE_MODES)
            except InvalidRequest:
                continue
            return mode
    return response_type.default_mode if response_type else "query"


def _response_type(params: Params) -> ResponseType | None:
    text = _only(params, "response_type")
    try:
        return parse_response_type(text) if text else None
    except OAuthError:
        return None


def _only(params: Params, name: str) -> str | None:
    """A parameter's value, unless it is said twice: then it says nothing."""
    values = params.every(name)
    return values[0] if len(values) == 1 else None
