"""Finds the client and the redirect URI of an authorization request; until then a refusal is a page."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from service.authorize.response_modes import JWT_SUFFIX, RESPONSE_MODES, choose_response_mode
from service.clients.directory import Clients
from service.clients.keys import ClientKeys, Recipient
from service.clock import clock
from service.keys.jose import Key
from service.keys.jwe import DEFAULT_ENC
from service.model.client import Client
from service.protocol.authorization_request import (
    NO_RESPONSE,
    OPAQUE_ORIGIN,
    find_response_type,
    session_state,
)
from service.protocol.errors import InvalidClient, InvalidRequest, OAuthError, RefusedValue
from service.protocol.octets import random_text
from service.protocol.params import MAX_LENGTH, Params
from service.protocol.redirect_uri import Delivery, origin_of, private_use_scheme
from service.protocol.scope import OPENID
from service.protocol.uris import is_loopback, is_on_loopback, parse_client_id_url

_FOR_TOKENS = {"query": "fragment", "query.jwt": "fragment.jwt"}
"""The mode by which an error is sent where the one that was asked for cannot carry tokens."""


_find_origin = lru_cache(maxsize=1000)(origin_of)
"""Registered redirect URIs are few."""

RESPONSE_JWT_LIFETIME = 10 * 60
"""Seconds; JARM §2.1 recommends no more."""


class ResponseJwts(msgspec.Struct, frozen=True, kw_only=True):
    """Signs the responses to one client as JWTs, and encrypts them, by keys that are found before anything is granted (JARM §2.2)."""

    client_id: str
    signing_key: Key
    recipient: Recipient | None
    """None if the client has not registered for encryption."""

    @classmethod
    async def find_keys(cls, client: Client, keys: ClientKeys) -> ResponseJwts:
        """Raise UnauthorizedClient if responses have to be encrypted and the client has no key for that."""
        alg, enc = (
            client.authorization_encrypted_response_alg,
            client.authorization_encrypted_response_enc,
        )
        return cls(
            client_id=client.client_id,
            signing_key=keys.ring.signing_key(client.authorization_signed_response_alg),
            recipient=alg and await keys.find_recipient(client, alg=alg, enc=enc or DEFAULT_ENC),
        )

    async def make(self, response: Mapping[str, str]) -> str:
        """Return a JWT of the parameters of a response, which hold `iss` already."""
        addressed = {**response, "aud": self.client_id, "exp": clock() + RESPONSE_JWT_LIFETIME}
        signed = await self.signing_key.sign(addressed, typ="JWT")
        return self.recipient.encrypt(signed.encode(), cty="JWT") if self.recipient else signed


class ReplyTo(msgspec.Struct, frozen=True, kw_only=True):
    """The client and the redirect URI that it registered, with what every answer carries."""

    issuer: str
    client: Client
    redirect_uri: str
    response_mode: str
    state: str | None
    asks_for_identity: bool
    """Whether it is an authentication request (OIDC Core §3.1.2.1)."""
    session_state: str | None = None
    """Lets the client notice that the login has changed; None before the browser is known."""
    jwts: ResponseJwts | None = None
    """Makes the JWT of a response mode that sends one."""

    @property
    def host(self) -> str:
        """The host that the answer goes to, or the scheme of an application on the user's device."""
        scheme = private_use_scheme(self.redirect_uri)
        return f"{scheme}:" if scheme else urlsplit(self.redirect_uri).hostname or ""

    @property
    def unverified_client_host(self) -> str | None:
        """The host if the client registered dynamically, because no operator knows it (RFC 7591 §5).

        That of the client_id, if it is the URL of the client's metadata document.
        """
        if not self.client.dynamically_registered or not self.redirect_uri:
            return None
        url = parse_client_id_url(self.client.client_id)
        return self.host if url is None else url.place

    @property
    def may_be_any_application(self) -> bool:
        """Whether any application on the user's machine could have sent the request in the name of the client's host."""
        has_document = self.client.dynamically_registered and self.client.client_id.startswith(
            "https:"
        )
        return has_document and is_on_loopback(self.redirect_uri)

    @property
    def may_remember_consent(self) -> bool:
        """Whether a consent may count for later requests: not where another application could send them in the client's name (RFC 8252 §8.6).

        A public client that registered dynamically proves nothing but that it gets the answer, and only https to another
        machine shows that.
        """
        is_proven = self.redirect_uri.startswith("https:") and not is_loopback(self.host)
        is_unknown = self.client.dynamically_registered and self.client.is_public
        return self.client.allow_remember_consent and (is_proven or not is_unknown)

    def in_browser(self, browser_state: str) -> ReplyTo:
        """Add session_state to what every answer carries (OIDC Session Management §2)."""
        if not self.asks_for_identity:
            return self
        state = session_state(
            client_id=self.client.client_id,
            origin=_find_origin(self.redirect_uri) or OPAQUE_ORIGIN,
            browser_state=browser_state,
            salt=random_text(12),
        )
        return replace(self, session_state=state)

    @property
    def needs_keys(self) -> bool:
        """Whether the response mode sends a JWT (JARM §2.3)."""
        return self.response_mode.endswith(JWT_SUFFIX)

    async def with_keys(self, keys: ClientKeys) -> ReplyTo:
        """Add what a JWT is made with; UnauthorizedClient if the client has no key to encrypt to (JARM §2.2)."""
        return replace(self, jwts=await ResponseJwts.find_keys(self.client, keys))

    async def deliver(self, parameters: Mapping[str, str]) -> Delivery:
        """Send parameters to the client, with `state`, `session_state` and `iss` (RFC 9207 §2), or all in a JWT (JARM §2.1)."""
        carried = {"state": self.state, "session_state": self.session_state, "iss": self.issuer}
        present = {name: value for name, value in carried.items() if value is not None}
        response = {**parameters, **present}
        if self.jwts is not None:
            response = {"response": await self.jwts.make(response)}
        return RESPONSE_MODES[self.response_mode](self.redirect_uri, response)

    async def refuse(self, error: OAuthError) -> Delivery:
        """Send an error to the client (RFC 6749 §4.1.2.1)."""
        return await self.deliver({"error": error.code, "error_description": error.description})


async def find_client(params: Params, clients: Clients) -> Client:
    """Return the client; raise InvalidRequest, for an error page, if it is unknown or disabled."""
    client_id = _required_once(params, "client_id", None)
    try:
        client = await clients.resolve(client_id)
    except InvalidClient as error:
        value = RefusedValue("client_id", client_id)
        raise InvalidRequest(error.description, refused=value) from error
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
        response_mode=_choose_mode(params, client),
        state=_only(params, "state"),
        asks_for_identity=OPENID in (_only(params, "scope") or "").split(),
    )


def reply_to_device(client: Client, *, issuer: str) -> ReplyTo:
    """Return the place of an answer that no browser carries: the device polls for it (RFC 8628 §3.4)."""
    return ReplyTo(
        issuer=issuer,
        client=client,
        redirect_uri="",
        response_mode=NO_RESPONSE.default_mode,
        state=None,
        asks_for_identity=False,
    )


def _required_once(params: Params, name: str, client: Client | None) -> str:
    """Return a value without which a refusal cannot be sent; if it is sent twice, neither is trusted."""
    values = params.values.get(name, ())
    if len(values) == 1 and values[0]:
        return values[0]
    raise InvalidRequest(
        f"{name} is sent more than once" if len(values) > 1 else f"{name} is missing",
        refused=RefusedValue(name, params.get(name), client.client_id if client else None),
    )


def _choose_mode(params: Params, client: Client) -> str:
    """Return the mode asked for if it is possible, else the client's or the response type's default.

    An unknown response type means query, because an error contains no token.
    """
    response_type = find_response_type(_only(params, "response_type") or "") or NO_RESPONSE
    asked = _only(params, "response_mode")
    if asked is None and client.default_response_mode is None:
        return response_type.default_mode
    for name in filter(None, (asked, _FOR_TOKENS.get(asked or ""), client.default_response_mode)):
        with suppress(InvalidRequest):
            return choose_response_mode(name, response_type, client)
    return response_type.default_mode


def _only(params: Params, name: str) -> str | None:
    """Return a parameter's value, unless it is sent twice: then none of its values counts."""
    values = params.every(name)
    return values[0] if len(values) == 1 else None
