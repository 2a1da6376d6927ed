"""Opens authorization requests as they arrive: from a browser, or pushed by their client before (RFC 9126)."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from service.authorize.checks import RequestReader
from service.authorize.parameters import AUTHORIZE
from service.authorize.parking import PUSHED, Parking, read_pushed_id
from service.authorize.reply_to import find_client
from service.authorize.request_object import Arrival
from service.model.client import Client
from service.protocol import errors
from service.protocol.params import Params


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
        with suppress(errors.AlreadyAnswered):
            pushed = await self.pushed.read(pushed_id)
        if pushed is None or pushed.params.get("client_id") != client.client_id:
            raise errors.InvalidRequestUri(
                "request_uri is unknown, expired or used: begin again at the application"
            )
        params = Params({**pushed.params.values, "request_uri": sent.every("request_uri")})
        arrival = Arrival(endpoint=AUTHORIZE, client=client, params=params, client_address=address)
        await self.reader.reply_to(arrival)  # its redirect URI may not be registered any more
        return arrival
