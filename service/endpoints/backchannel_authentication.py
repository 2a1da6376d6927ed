"""POST /connect/ciba: a client asks for the authentication of a user whom it names, without a browser (CIBA Core §7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.ciba.notifier import SafeNotifier
from service.ciba.request import CibaReader, CibaRequest
from service.ciba.requests import CibaRequests
from service.client_auth import ClientAuthentication
from service.clock import clock
from service.http.credentials import CredentialReader
from service.http.endpoint import Answer, Direct, Message, Route, json_answer
from service.http.parameters import form_params
from service.keys.jose import SIGNING_ALGORITHMS
from service.model.authorization import CIBA
from service.model.backchannel import AuthenticationNotice
from service.model.catalogue import Registrable
from service.model.ciba_events import CibaRequested
from service.model.client import Client
from service.model.events import AuthorizationRefused, Emit
from service.model.registry import LiveRegistry
from service.pages.sign_in_pages import REQUESTS
from service.protocol.errors import OAuthError
from service.protocol.params import Params
from service.store.rate_limit import RateLimit

PATH = "/connect/ciba"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackchannelAuthenticationEndpoint:
    client_auth: ClientAuthentication
    reader: CibaReader
    requests: CibaRequests
    notifier: SafeNotifier
    issuer: str
    rate_limit: RateLimit
    credentials: CredentialReader
    registry: LiveRegistry
    registrable: Registrable
    emit: Emit

    def routes(self) -> Iterable[Route]:
        return (Direct("POST", PATH, self.ask),)

    def metadata(self) -> Mapping[str, object]:
        """Return the metadata of CIBA Core §4, if any client may use it."""
        clients = self.registry.current.clients.values()
        usable = any(each.enabled and CIBA in each.allowed_grant_types for each in clients)
        if not usable and CIBA not in self.registrable.grant_types:
            return {}
        return {
            "backchannel_authentication_endpoint": PATH,
            "backchannel_token_delivery_modes_supported": ["poll", "ping"],
            "backchannel_authentication_request_signing_alg_values_supported": list(
                SIGNING_ALGORITHMS
            ),
            "backchannel_user_code_parameter_supported": True,
        }

    async def ask(self, request: Message) -> Answer:
        params = await form_params(request)
        client: Client | None = None
        try:
            credentials = self.credentials.read(request, params)
            client = await self.client_auth.authenticate(credentials)
            await self.rate_limit.count(client.client_id)
            sent = Params({**credentials.params.values, "client_id": (client.client_id,)})
            address = self.credentials.client_address.find(request)
            asked = await self.reader.read(sent, client, client_address=address)
            started = await self.requests.begin(asked)
        except OAuthError as error:
            client_id = client.client_id if client else error.claimed
            self.emit(AuthorizationRefused.by(error, client_id))
            raise
        await self._tell(asked, started.place.selector)
        return json_answer(
            {
                "auth_req_id": started.handle.text,
                "expires_in": asked.expires_in,
                "interval": self.requests.interval,
            }
        )

    async def _tell(self, asked: CibaRequest, ref: str) -> None:
        client, subject = asked.request.client, asked.hinted.user.sub
        notice = AuthenticationNotice(
            auth_req_ref=ref,
            subject=subject,
            client_id=client.client_id,
            client_name=client.client_name or client.client_id,
            binding_message=asked.binding_message,
            scope=asked.request.scope,
            authorization_details=asked.request.authorization_details,
            expires_at=clock() + asked.expires_in,
            uri=f"{self.issuer.rstrip('/')}{REQUESTS}/{ref}",
        )
        self.emit(
            CibaRequested(
                client_id=client.client_id,
                subject=subject,
                auth_req_ref=ref,
                scope=asked.request.scope,
            )
        )
        await self.notifier.notify(notice)
