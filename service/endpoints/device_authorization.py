"""POST /connect/deviceauthorization: begins the authorization of a device that has no browser (RFC 8628 §3.1, §3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from service.authorize.checks import RequestReader
from service.authorize.device import PATH as VERIFICATION_PATH
from service.authorize.device import USER_CODE
from service.authorize.parameters import DEVICE
from service.authorize.request import AuthorizeRequest
from service.authorize.user_codes import format_user_code, new_user_code
from service.clock import clock
from service.events.authorizations import DeviceAuthorizationStarted
from service.events.event import Emit
from service.model.authorization import Confirmation
from service.model.catalogue import Registrable
from service.model.handle import digest
from service.model.polling import DEVICE_CODE, PolledRequest
from service.model.registry import LiveRegistry
from service.protocol.authorization_details import PARAMETER as AUTHORIZATION_DETAILS
from service.protocol.errors import (
    RefusedValue,
    TemporarilyUnavailable,
    UnauthorizedClient,
)
from service.protocol.params import Params
from service.protocol.paths import DEVICE_AUTHORIZATION
from service.protocol.redirect_uri import with_query
from service.protocol.scope import format_scope
from service.store.room import Room
from service.store.stores import Stores
from service.tokens.granting import ScopeRule
from service.tokens.polling import INTERVAL, StartedPolling, start
from service.tokens.requested_access import requested_scope
from service.web.client_requests import ClientRequest, ClientRequests
from service.web.endpoint import CLIENT_ORIGINS, Answer, Direct, Message, Route, json_answer

ATTEMPTS = 5
"""User codes to try: one in ten thousand millions is taken already, even where many devices wait."""


class DeviceAuthorizationEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the checks that the authorize endpoint makes, and returns a code for the device and one for its user."""

    takes_certificates: ClassVar[bool] = True
    issuer: str
    from_clients: ClientRequests
    reader: RequestReader
    stores: Stores
    registry: LiveRegistry
    room: Room
    registrable: Registrable
    emit: Emit

    def routes(self) -> Iterable[Route]:
        return (Direct("POST", DEVICE_AUTHORIZATION, self.begin, scripts=CLIENT_ORIGINS),)

    def metadata(self) -> Mapping[str, object]:
        if DEVICE_CODE not in self.registrable.grant_types | self.registry.current.grant_types:
            return {}
        return {"device_authorization_endpoint": DEVICE_AUTHORIZATION}

    async def begin(self, request: Message) -> Answer:
        return await self.from_clients.answer(request, self._begin)

    async def _begin(self, sent: ClientRequest) -> Answer:
        client, proven = sent.client, await self._check(sent)
        asked = await self._read(sent)
        user_code, started = await self._start(asked, proven, address=sent.address)
        self.emit(DeviceAuthorizationStarted(client_id=client.client_id, scope=asked.scope))
        verification_uri = self.issuer.rstrip("/") + VERIFICATION_PATH
        shown = format_user_code(user_code)
        response = {
            "device_code": started.handle.text,
            "user_code": shown,
            "verification_uri": verification_uri,
            "verification_uri_complete": with_query(verification_uri, {USER_CODE: shown}),
            "expires_in": client.device_code_lifetime,
            "interval": INTERVAL,
        }
        headers = self.from_clients.proofs.nonce_for(sent.message, client)
        return json_answer(response, headers=headers)

    async def _check(self, sent: ClientRequest) -> Confirmation | None:
        """Return the key that the device code is bound to; UnauthorizedClient if the client may not use one."""
        if DEVICE_CODE not in sent.client.allowed_grant_types:
            raise UnauthorizedClient(
                "the client is not registered for the device grant",
                refused=RefusedValue("grant_type", DEVICE_CODE, sent.client.client_id),
            )
        proofs = self.from_clients.proofs
        return await proofs.confirm_code(sent.message, sent.client, sent.credentials)

    async def _read(self, sent: ClientRequest) -> AuthorizeRequest:
        """Return the request if it is right; without a scope it is one for all API scopes of the client."""
        client, params = sent.client, sent.params
        if params.get("scope") is None and params.get(AUTHORIZATION_DETAILS) is None:
            rule, registry = ScopeRule.DEFAULTED, self.registry.current
            scope = format_scope(requested_scope(params, client, registry, rule, ()))
            params = Params({**params.values, "scope": (scope,)})
        arrival = await self.reader.arrive(params, client, DEVICE, client_address=sent.address)
        return await self.reader.read(arrival)

    async def _start(
        self, asked: AuthorizeRequest, proven: Confirmation | None, *, address: str
    ) -> tuple[str, StartedPolling]:
        """Store the request under a user code that no other request has."""
        client, lifetime = asked.client, asked.client.device_code_lifetime
        polled = PolledRequest(
            client_id=client.client_id,
            grant_type=DEVICE_CODE,
            scope=asked.scope,
            resources=asked.resources,
            authorization_details=asked.authorization_details,
            cnf=proven,
            expires_at=clock() + lifetime,
        )
        started = start(self.stores, polled, "device_code")
        await self.room.take(client, *started.writes, address=address)
        for _ in range(ATTEMPTS):
            user_code = new_user_code()
            reserve = self.stores.user_codes.put_new(started.place, digest(user_code), ttl=lifetime)
            *_, is_new = await self.stores.kv.write(*started.writes, reserve)
            if is_new:
                return user_code, started
        raise TemporarilyUnavailable("there are too many user codes at present")
