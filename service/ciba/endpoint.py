"""POST /connect/ciba: a client asks for the authentication of a user whom it names, without a browser (CIBA Core §7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from service.ciba.messages import SafeNotifier
from service.ciba.pending import CibaRequests
from service.ciba.request import CibaReader, CibaRequest
from service.clock import clock
from service.events.ciba import CibaRequested
from service.events.event import Emit
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.model.backchannel import AuthenticationNotice
from service.model.catalogue import Registrable
from service.model.polling import CIBA
from service.model.registry import LiveRegistry
from service.protocol.paths import BACKCHANNEL_AUTHENTICATION, REQUESTS
from service.web.client_requests import ClientRequest, ClientRequests
from service.web.endpoint import Answer, Direct, Message, Route, json_answer


class BackchannelAuthenticationEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    takes_certificates: ClassVar[bool] = True
    from_clients: ClientRequests
    reader: CibaReader
    requests: CibaRequests
    notifier: SafeNotifier
    issuer: str
    registry: LiveRegistry
    registrable: Registrable
    emit: Emit

    def routes(self) -> Iterable[Route]:
        return (Direct("POST", BACKCHANNEL_AUTHENTICATION, self.ask),)

    def metadata(self) -> Mapping[str, object]:
        """Return the metadata of CIBA Core §4, if any client may use it."""
        if CIBA not in self.registrable.grant_types | self.registry.current.grant_types:
            return {}
        return {
            "backchannel_authentication_endpoint": BACKCHANNEL_AUTHENTICATION,
            "backchannel_token_delivery_modes_supported": ["poll", "ping"],
            "backchannel_authentication_request_signing_alg_values_supported": list(
                SIGNING_ALGORITHMS
            ),
            "backchannel_user_code_parameter_supported": True,
        }

    async def ask(self, request: Message) -> Answer:
        return await self.from_clients.answer(request, self._ask)

    async def _ask(self, sent: ClientRequest) -> Answer:
        asked = await self.reader.read(sent.params, sent.client, client_address=sent.address)
        started = await self.requests.begin(asked, address=sent.address)
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
