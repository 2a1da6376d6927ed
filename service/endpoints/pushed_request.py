"""POST /connect/par: takes an authorization request from the client itself, before a browser is involved (RFC 9126)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from service.authorize.checks import ArrivingRequests
from service.authorize.parameters import CERTIFICATE, PAR
from service.authorize.request_object import Arrival
from service.config.schema.file import Settings
from service.model.authorization import Confirmation
from service.protocol.errors import InvalidRequest
from service.protocol.params import Params
from service.protocol.paths import PUSHED_REQUEST
from service.web.client_requests import ClientRequest, ClientRequests
from service.web.endpoint import CLIENT_ORIGINS, Answer, Direct, Message, Route, json_answer


class PushedRequestEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Checks all that the authorize endpoint checks before it asks a user (RFC 9126 §2.1)."""

    takes_certificates: ClassVar[bool] = True
    from_clients: ClientRequests
    arriving: ArrivingRequests
    settings: Settings
    """Whether requests can be pushed, and whether every client has to."""

    def routes(self) -> Iterable[Route]:
        if not self.settings.pushed_authorization_requests:
            return ()
        return (Direct("POST", PUSHED_REQUEST, self.push, scripts=CLIENT_ORIGINS),)

    def metadata(self) -> Mapping[str, object]:
        if not self.settings.pushed_authorization_requests:
            return {}
        required = self.settings.require_pushed_authorization_requests
        return {
            "pushed_authorization_request_endpoint": PUSHED_REQUEST,
            "require_pushed_authorization_requests": required,
        }

    async def push(self, request: Message) -> Answer:
        return await self.from_clients.answer(request, self._push)

    async def _push(self, sent: ClientRequest) -> Answer:
        request_uri = await self.arriving.push(await self._read(sent))
        client = sent.client
        pushed = {"request_uri": request_uri, "expires_in": client.pushed_authorization_lifetime}
        headers = self.from_clients.proofs.nonce_for(sent.message, client)
        return json_answer(pushed, status=HTTPStatus.CREATED, headers=headers)

    async def _read(self, sent: ClientRequest) -> Arrival:
        """Return the request if it is right, with the key that its code is bound to."""
        client, proofs = sent.client, self.from_clients.proofs
        proven = await proofs.confirm_code(sent.message, client, sent.credentials)
        arrival = await self.arriving.reader.arrive(
            sent.params, client, PAR, client_address=sent.address
        )
        if arrival.refusal is None:
            arrival = replace(arrival, params=_bind(arrival.params, proven))
        await self.arriving.reader.read(arrival)
        return arrival


def _bind(params: Params, proven: Confirmation | None) -> Params:
    """Return the parameters with the key that was proven, and no other one (RFC 9449 §10.1)."""
    values = {name: value for name, value in params.values.items() if name != CERTIFICATE}
    if proven is None:
        return Params(values)
    if proven.method != "jkt":
        return Params({**values, CERTIFICATE: (proven.thumbprint,)})
    if params.get("dpop_jkt") not in {None, proven.thumbprint}:
        raise InvalidRequest("dpop_jkt is not the thumbprint of the proof's key")
    return Params({**values, "dpop_jkt": (proven.thumbprint,)})
