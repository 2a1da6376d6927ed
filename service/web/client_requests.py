"""Takes authorization requests that clients send themselves, without a browser (RFC 9126, RFC 8628 §3.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from service.clients.authentication.authentication import ClientAuthentication
from service.events.authorizations import AuthorizationRefused
from service.events.event import Emit
from service.model.client import Client
from service.model.credentials import RequestCredentials
from service.protocol.errors import OAuthError
from service.protocol.params import Params
from service.store.rate_limit import RateLimit
from service.web.endpoint import Answer, Message
from service.web.key_proofs import KeyProofs
from service.web.parameters import form_params
from service.web.sent_credentials import CredentialReader


class ClientRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An authorization request and the client that has authenticated."""

    message: Message
    client: Client
    credentials: RequestCredentials
    address: str

    @property
    def params(self) -> Params:
        """The parameters of the body with the `client_id`, which the client may have sent elsewhere or not at all."""
        sent = self.credentials.params.values
        return Params({**sent, "client_id": (self.client.client_id,)})


class ClientRequests(msgspec.Struct, frozen=True, kw_only=True):
    client_auth: ClientAuthentication
    credentials: CredentialReader
    proofs: KeyProofs
    rate_limit: RateLimit
    """Of each client."""
    emit: Emit

    async def answer(
        self, request: Message, handle: Callable[[ClientRequest], Awaitable[Answer]]
    ) -> Answer:
        """Authenticate the client, count its request and handle it; what refuses it, here or there, is an event."""
        params: Params | None = None
        client: Client | None = None
        try:
            params = await form_params(request)
            credentials = self.credentials.read(request, params)
            client = await self.client_auth.authenticate(credentials)
            await self.rate_limit.count(client.client_id)
            address = self.credentials.client_address.find(request)
            return await handle(
                ClientRequest(
                    message=request, client=client, credentials=credentials, address=address
                )
            )
        except OAuthError as error:
            if params is not None:
                client_id = client.client_id if client else error.claimed
                self.emit(AuthorizationRefused.by(error, client_id))
            error.headers = {**error.headers, **self.proofs.nonce_for(request, client)}
            raise
