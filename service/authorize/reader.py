"""Reads authorization requests at every endpoint that takes them: request object, redirect URI, parameters, checks."""

from __future__ import annotations

from dataclasses import dataclass

from service.authorize.checks import checks_on
from service.authorize.parameters import AUTHORIZE, DEVICE, PAR, PARAMETERS, EndpointKind
from service.authorize.reply_to import ReplyTo, find_client, find_reply_to
from service.authorize.request import AuthorizeRequest, read_request
from service.authorize.request_object import Arrival, RequestObjects
from service.clients.directory import Clients
from service.model.client import Client
from service.model.registry import LiveRegistry
from service.protocol.errors import InvalidRequest
from service.protocol.params import Params
from service.tokens.id_token import IdTokens

_CHECKED_BEFORE = frozenset({"redirect_uri", "client_id"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestReader:
    """Runs an endpoint's column of the table."""

    issuer: str
    registry: LiveRegistry
    clients: Clients
    request_objects: RequestObjects
    id_tokens: IdTokens

    async def arrive(
        self, sent: Params, client: Client, endpoint: EndpointKind, *, client_address: str
    ) -> Arrival:
        """Open the request object; an OAuthError from here must not be sent to the redirect URI."""
        arrival = Arrival(
            endpoint=endpoint, client=client, params=sent, client_address=client_address
        )
        if endpoint is not DEVICE:
            arrival = await self.request_objects.open(arrival)
        if endpoint in (AUTHORIZE, PAR):
            self._require_redirect_uri(arrival)
        return arrival

    async def reopen(self, params: Params) -> Arrival:
        """Return a request that was parked; its request object was opened before."""
        client = await find_client(params, self.clients)
        return Arrival(endpoint=AUTHORIZE, client=client, params=params)

    def reply_to(self, arrival: Arrival) -> ReplyTo:
        """Return the place of the answer; raise InvalidRequest if the redirect URI is not registered."""
        return find_reply_to(arrival.params, arrival.client, issuer=self.issuer)

    async def read_parameters(self, arrival: Arrival) -> AuthorizeRequest:
        """Return what the parameters of this endpoint say; raise OAuthError if one is malformed."""
        if arrival.refusal is not None:
            raise arrival.refusal
        arrival.params.refuse_repeated()
        arrival.params.refuse_too_long(except_for=_CHECKED_BEFORE)
        return await read_request(
            arrival.params.only(PARAMETERS[arrival.endpoint]),
            arrival.client,
            self.registry.current,
            self.id_tokens,
            has_response=arrival.endpoint in (AUTHORIZE, PAR),
        )

    async def read(self, arrival: Arrival) -> AuthorizeRequest:
        """Return the request if it passes every check of the endpoint's column."""
        request = await self.read_parameters(arrival)
        for check in checks_on(arrival.endpoint):
            check(request, self.registry.current)
        return request

    def _require_redirect_uri(self, arrival: Arrival) -> None:
        try:
            self.reply_to(arrival)
        except InvalidRequest as untrusted:
            refusal = arrival.refusal or untrusted
            refusal.refused = untrusted.refused  # it is the reason why the refusal is a page
            raise refusal from untrusted
