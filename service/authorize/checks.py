"""Reads authorization requests, by a table of checks that they must pass before the user is asked anything.

Its columns are the endpoints that take such requests: authorize, PAR (RFC 9126 §2.1), device
(RFC 8628 §3.1) and CIBA (CIBA Core §7.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache

import msgspec
from msgspec.structs import replace

from service.authorize.device import place_in
from service.authorize.parameters import (
    AUTHORIZE,
    CERTIFICATE,
    CIBA,
    DEVICE,
    PAR,
    PARAMETERS,
    EndpointKind,
)
from service.authorize.parking import PUSHED, Parking, read_pushed_id
from service.authorize.reply_to import ReplyTo, find_client, find_reply_to, reply_to_device
from service.authorize.request import AuthorizeRequest, read_request
from service.authorize.request_object import Arrival, RequestObjects
from service.authorize.response_modes import RESPONSE_MODE_NAMES
from service.clients.directory import Clients
from service.clients.keys import ClientKeys
from service.model.authorization import Confirmation
from service.model.client import Client
from service.model.registry import Registry
from service.protocol.errors import (
    AlreadyAnswered,
    InvalidRequest,
    InvalidRequestUri,
    InvalidScope,
    RefusedValue,
    UnauthorizedClient,
)
from service.protocol.params import Params
from service.protocol.pkce import PLAIN
from service.protocol.scope import OPENID
from service.tokens.id_token import IdTokens
from service.tokens.requested_access import (
    check_allowed,
    check_known,
    check_understood,
    refuse_admin_scope,
    require_access,
)

_CHECKED_BEFORE = frozenset({"redirect_uri", "client_id"})

Check = Callable[[AuthorizeRequest, Registry], None]


def response_type_is_allowed(request: AuthorizeRequest, _: Registry) -> None:
    """The client registered this response type (RFC 7591 §2)."""
    name, client_id = request.response_type.name, request.client.client_id
    if name not in request.client.allowed_response_types:
        raise UnauthorizedClient(
            "the client is not registered for this response_type",
            refused=RefusedValue("response_type", name, client_id),
        )


def access_token_is_allowed_in_browser(request: AuthorizeRequest, _: Registry) -> None:
    """The client lets access tokens be seen by the browser (RFC 9700 §2.1.2)."""
    if request.response_type.token and not request.client.allow_access_tokens_via_browser:
        raise UnauthorizedClient("the client may not receive access tokens through the browser")
    if request.response_type.token and request.client.dpop_bound_access_tokens and not request.cnf:
        raise InvalidRequest("dpop_jkt is missing: the client's tokens are bound to a key")


def tokens_can_be_bound_to_certificate(request: AuthorizeRequest, _: Registry) -> None:
    """A browser shows no certificate of the client (RFC 8705 §3), and a code is not bound to a key of another kind."""
    if not request.client.tls_client_certificate_bound_access_tokens:
        return
    if request.response_type.token:
        raise UnauthorizedClient(
            "the client's tokens are bound to a certificate, and so not for a browser"
        )
    if request.cnf is not None and request.cnf.method == "jkt":
        raise InvalidRequest("the client's tokens are bound to its certificate, not by DPoP")


def code_challenge_is_sent_when_required(request: AuthorizeRequest, _: Registry) -> None:
    """PKCE protects the code (RFC 7636 §4.4.1, RFC 9700 §2.1.1)."""
    challenge = request.code_challenge
    if request.response_type.code and challenge is None and request.client.require_pkce:
        raise InvalidRequest("code_challenge is missing")
    if challenge and challenge.method == PLAIN and not request.client.allow_plain_text_pkce:
        raise InvalidRequest("code_challenge_method has to be S256")


def scope_is_allowed(request: AuthorizeRequest, registry: Registry) -> None:
    """Every scope value is known and in the client's registration (RFC 6749 §3.3)."""
    require_access(request.scope, request.authorization_details)
    check_allowed(request.scope, request.client, registry)


def admin_scope_is_for_codes(request: AuthorizeRequest, registry: Registry) -> None:
    """Tokens for the admin API come by codes, not from the front channel."""
    if request.response_type.token:
        refuse_admin_scope(request.scope, registry)


def admin_scope_is_absent(request: AuthorizeRequest, registry: Registry) -> None:
    """Neither a device nor CIBA gets tokens for the admin API."""
    refuse_admin_scope(request.scope, registry)


def scope_fits_response_type(request: AuthorizeRequest, registry: Registry) -> None:
    """An ID token needs openid; without a code, one token alone carries only its own kind of scope."""
    kind = request.response_type
    if kind.id_token and OPENID not in request.scope:
        raise InvalidScope("scope does not hold openid, which an ID token needs")
    if kind.code:
        return
    identity = request.scope & registry.identity_resources.keys()
    if not kind.token and identity != request.scope:
        raise InvalidScope("scope holds an API scope, which an ID token alone cannot carry")
    if not kind.id_token and identity:
        raise InvalidScope("scope holds an identity scope, which needs an ID token")


def resources_fit_scope(request: AuthorizeRequest, registry: Registry) -> None:
    """Every resource is known and understands some of the request, and each of its details is for one of them (RFC 8707 §2.1)."""
    details = request.authorization_details
    if request.resources:
        check_known(registry, request.resources, details)
        check_understood(registry, request.resources, request.scope, details)


def scope_holds_openid(request: AuthorizeRequest, _: Registry) -> None:
    """A CIBA request is one for authentication (CIBA Core §7.1)."""
    if OPENID not in request.scope:
        raise InvalidScope("scope does not hold openid")


def tenant_is_named_when_required(request: AuthorizeRequest, registry: Registry) -> None:
    """A request is for one tenant where `tenants_required` says so; the admin console is for operators of any."""
    if request.client is not registry.console_client:
        request.users.require_tenant(registry)


def nonce_is_sent_for_id_token(request: AuthorizeRequest, _: Registry) -> None:
    """An ID token through the browser is bound to the client's session (OIDC Core §3.2.2.1)."""
    if request.response_type.id_token and request.nonce is None:
        raise InvalidRequest("nonce is missing")


def userinfo_claims_can_be_fetched(request: AuthorizeRequest, _: Registry) -> None:
    """Claims at userinfo need an access token (OIDC Core §5.5)."""
    kind = request.response_type
    if request.claims.at_userinfo and not kind.code and not kind.token:
        raise InvalidRequest("claims.userinfo needs a response_type that brings an access token")


def authorization_details_come_with_an_access_token(request: AuthorizeRequest, _: Registry) -> None:
    """Only an access token can carry them (RFC 9396 §7)."""
    kind = request.response_type
    if request.authorization_details and not kind.code and not kind.token:
        message = "authorization_details needs a response_type that brings an access token"
        raise InvalidRequest(message)


CHECKS: Mapping[Check, tuple[EndpointKind, ...]] = {
    response_type_is_allowed: (AUTHORIZE, PAR),
    access_token_is_allowed_in_browser: (AUTHORIZE, PAR),
    tokens_can_be_bound_to_certificate: (AUTHORIZE, PAR),
    code_challenge_is_sent_when_required: (AUTHORIZE, PAR),
    scope_is_allowed: (AUTHORIZE, PAR, DEVICE, CIBA),
    admin_scope_is_for_codes: (AUTHORIZE, PAR),
    admin_scope_is_absent: (DEVICE, CIBA),
    scope_fits_response_type: (AUTHORIZE, PAR),
    scope_holds_openid: (CIBA,),
    tenant_is_named_when_required: (AUTHORIZE, PAR, DEVICE, CIBA),
    resources_fit_scope: (AUTHORIZE, PAR, DEVICE, CIBA),
    nonce_is_sent_for_id_token: (AUTHORIZE, PAR),
    userinfo_claims_can_be_fetched: (AUTHORIZE, PAR),
    authorization_details_come_with_an_access_token: (AUTHORIZE, PAR),
}


@cache
def checks_on(endpoint: EndpointKind) -> tuple[Check, ...]:
    """Return the endpoint's column of the table."""
    return tuple([check for check, endpoints in CHECKS.items() if endpoint in endpoints])


class RequestReader(msgspec.Struct, frozen=True, kw_only=True):
    """Runs an endpoint's column of the table."""

    issuer: str
    clients: Clients
    request_objects: RequestObjects
    id_tokens: IdTokens
    client_keys: ClientKeys
    push_required: bool
    """Whether every client has to push its requests."""

    async def arrive(
        self, sent: Params, client: Client, endpoint: EndpointKind, *, client_address: str
    ) -> Arrival:
        """Open the request object; an OAuthError from here must not be sent to the redirect URI."""
        arrival = Arrival(
            endpoint=endpoint, client=client, params=sent, client_address=client_address
        )
        if endpoint is DEVICE:  # RFC 8628 §3.1 has no request objects
            if self.request_objects.has_to_sign(arrival):
                message = "the client's requests are signed, and a device's cannot be"
                raise UnauthorizedClient(message)
        elif not self.request_objects.is_plain(arrival):
            arrival = await self.request_objects.open(arrival)
        if endpoint not in (AUTHORIZE, PAR):
            return arrival
        try:
            return replace(arrival, reply_to=await self.reply_to(arrival))
        except InvalidRequest as untrusted:
            refusal = arrival.refusal or untrusted
            refusal.refused = untrusted.refused  # it is the reason why the refusal is a page
            raise refusal from untrusted

    async def reopen(self, params: Params) -> Arrival:
        """Return a request that was parked; its request object was opened before."""
        client = await find_client(params, self.clients)
        endpoint = AUTHORIZE if place_in(params) is None else DEVICE
        return Arrival(endpoint=endpoint, client=client, params=params)

    async def reply_to(self, arrival: Arrival) -> ReplyTo:
        """Return the place of the answer.

        Raise InvalidRequest if the redirect URI is not registered, UnauthorizedClient if the answer
        has to be encrypted and the client has no key for that.
        """
        if arrival.reply_to is not None:
            return arrival.reply_to
        if arrival.endpoint is DEVICE:
            return reply_to_device(arrival.client, issuer=self.issuer)
        reply_to = find_reply_to(arrival.params, arrival.client, issuer=self.issuer)
        return await reply_to.with_keys(self.client_keys) if reply_to.needs_keys else reply_to

    async def read_parameters(self, arrival: Arrival) -> AuthorizeRequest:
        """Return what the parameters of this endpoint say; raise OAuthError if one is malformed."""
        if arrival.refusal is not None:
            raise arrival.refusal
        arrival.params.refuse_repeated()
        arrival.params.refuse_too_long(except_for=_CHECKED_BEFORE)
        request = await read_request(
            arrival.params.only(PARAMETERS[arrival.endpoint]),
            arrival.client,
            self.clients.registry.current,
            self.id_tokens,
            has_response=arrival.endpoint in (AUTHORIZE, PAR),
        )
        certificate = arrival.params.get(CERTIFICATE)
        if certificate is None or read_pushed_id(arrival.params) is None:
            return request
        return replace(request, cnf=Confirmation("x5t#S256", certificate))

    async def read(self, arrival: Arrival) -> AuthorizeRequest:
        """Return the request if it passes every check of the endpoint's column.

        API scopes that none of the API resources asked for understands are left out (RFC 8707 §2.2).
        """
        request = await self.read_parameters(arrival)
        must_push = self.push_required or arrival.client.require_pushed_authorization_requests
        if must_push and arrival.endpoint is AUTHORIZE and not arrival.params.get("request_uri"):
            raise InvalidRequest("the client has to push its request first (RFC 9126 section 5)")
        registry = self.clients.registry.current
        for check in checks_on(arrival.endpoint):
            check(request, registry)
        scope = registry.cut_scope(request.scope, request.resources)
        return request if scope is request.scope else replace(request, scope=scope)


class ArrivingRequests(msgspec.Struct, frozen=True, kw_only=True):
    """Opens authorization requests, and keeps those that their clients have pushed."""

    reader: RequestReader
    pushed: Parking
    """Keeps the requests that clients have pushed."""

    async def open(self, sent: Params, *, address: str) -> Arrival:
        """Open a request that has just come in; an OAuthError from here is a page, never a redirect."""
        client = await find_client(sent, self.reader.clients)
        pushed_id = read_pushed_id(sent)
        if pushed_id is not None:
            return await self._find_pushed(pushed_id, sent, client, address)
        return await self.reader.arrive(sent, client, AUTHORIZE, client_address=address)

    async def push(self, arrival: Arrival) -> str:
        """Keep a request that its client has pushed, and return the request_uri for the browser (RFC 9126 §2.2)."""
        client, address = arrival.client, arrival.client_address
        return PUSHED + await self.pushed.push(arrival.params, client, address=address)

    async def _find_pushed(
        self, pushed_id: str, sent: Params, client: Client, address: str
    ) -> Arrival:
        """Return the request that the client has pushed; nothing else that the browser sends counts (RFC 9126 §4)."""
        pushed = None
        with suppress(AlreadyAnswered):
            pushed = await self.pushed.read(pushed_id)
        if pushed is None or pushed.params.get("client_id") != client.client_id:
            raise InvalidRequestUri(
                "request_uri is unknown, expired or used: begin again at the application"
            )
        params = Params({**pushed.params.values, "request_uri": sent.every("request_uri")})
        arrival = Arrival(endpoint=AUTHORIZE, client=client, params=params, client_address=address)
        # Its redirect URI may not be registered any more.
        return replace(arrival, reply_to=await self.reader.reply_to(arrival))


MOST_ACCEPTED = 20
"""Accepted values that are listed for a refused one; the nearest."""


async def find_accepted_values(refused: RefusedValue, clients: Clients) -> tuple[str, ...]:
    """Return the values that the refused parameter could have had, the nearest first: for the error page in development and `explain`."""
    registry = clients.registry.current
    accepted: dict[str, Iterable[str]] = {
        "client_id": registry.permissions,
        "resource": registry.spell(registry.apis_by_identifier),
        "response_mode": RESPONSE_MODE_NAMES,
    }
    client = await clients.find(refused.client_id) if refused.client_id else None
    if client is not None:
        accepted |= {
            "redirect_uri": client.redirect_uris,
            "scope": client.permissions.scope,
            "response_type": client.allowed_response_types,
            "grant_type": client.allowed_grant_types,
            "request_uri": client.request_uris or (),
            "authorization_details": client.authorization_details_types or (),
        }
    ordered = sorted(accepted.get(refused.parameter or "", ()))
    return tuple(get_close_matches((refused.value or "")[:200], ordered, n=MOST_ACCEPTED, cutoff=0))
