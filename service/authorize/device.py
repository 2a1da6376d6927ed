"""Takes the request of a device to its user: a user code leads to it, and the user decides (RFC 8628 §3.3)."""

from __future__ import annotations

from enum import Enum, auto

import msgspec
import orjson

from service.authorize.interaction import Interaction, Step
from service.authorize.parking import ParkedRequest, Parking
from service.authorize.user_codes import DeviceUserCodes
from service.events.authorizations import AuthorizationGranted, ConsentDenied, UserCodeRefused
from service.events.event import Emit
from service.identity.sessions import new_authorization, note_client
from service.model.handle import digest
from service.model.polling import PolledPlace, PolledRequest
from service.protocol.authorization_details import PARAMETER as AUTHORIZATION_DETAILS
from service.protocol.authorization_details import types_of
from service.protocol.errors import ConsentRequired
from service.protocol.params import Params
from service.protocol.scope import format_scope
from service.tokens.polling import Polling

PATH = "/device"
PLACE = "polled_place"
USER_CODE = "user_code"
KEPT = frozenset({"client_id", "scope", "resource", AUTHORIZATION_DETAILS, PLACE, USER_CODE})
"""The parameters that are parked while the user signs in. An authorization request cannot bring the last two: they are not kept there."""

CONFIRM = Step(path=PATH, refusal=ConsentRequired)
"""The last step of every request of a device: its page decides."""


def place_in(params: Params) -> PolledPlace | None:
    """Return the place of the device's request, if these are the parameters of one."""
    selector, _, name = (params.get(PLACE) or "").partition(" ")
    return PolledPlace(selector, name) if name else None


class Outcome(Enum):
    """The end of a device's request, as one of those sees it who have entered its code."""

    ALLOWED = auto()
    DENIED = auto()
    ANSWERED_ELSEWHERE = auto()
    EXPIRED = auto()


class DeviceRequests(msgspec.Struct, frozen=True, kw_only=True):
    """Finds the requests of devices by their user codes, and decides them."""

    user_codes: DeviceUserCodes
    parking: Parking
    """The requests that it keeps are found among those of browsers."""
    polling: Polling
    emit: Emit

    async def enter(self, user_code: str, *, browser: str, address: str) -> str | None:
        """Park the request that a code stands for, and return the id; None for an unknown or expired code."""
        place = await self.user_codes.find(user_code, browser=browser, address=address)
        if place is None:
            self.emit(UserCodeRefused(address=address))
            return None
        polled = await self.polling.find_pending(place)
        if polled is None:
            return None
        params = _parameters(polled, place, user_code)
        return await self.parking.park(params, browser=browser, address=address)

    async def find(self, parked: ParkedRequest) -> PolledRequest | None:
        """Return what the device asks for; None if it has expired or was answered."""
        place = place_in(parked.params)
        return None if place is None else await self.polling.find_pending(place)

    async def find_outcome(self, parked: ParkedRequest) -> Outcome:
        """Return how a request ended that waits no longer."""
        place = place_in(parked.params)
        decision = None if place is None else await self.polling.find_decision(place)
        if decision is None:
            return Outcome.EXPIRED
        if decision.attempt != _attempt_by(parked):
            return Outcome.ANSWERED_ELSEWHERE
        return Outcome.ALLOWED if decision.is_allowed else Outcome.DENIED

    async def allow(
        self, parked: ParkedRequest, polled: PolledRequest, interaction: Interaction
    ) -> None:
        """Grant it to the user of the session; raise AlreadyAnswered if somebody was faster."""
        place, session = place_in(parked.params), interaction.session
        if place is None or session is None:
            raise ConsentRequired("nobody is signed in, or the request is not one of a device")
        request, stores = interaction.request, self.polling.stores
        authorization = new_authorization(
            session,
            client=request.client,
            scope=request.scope,
            resources=request.resources,
            authorization_details=request.authorization_details,
            acr=interaction.acr,
            grant_type=polled.grant_type,
            cnf=polled.cnf,
        )
        clients = note_client(stores, request.client, session)
        attempt = _attempt_by(parked)
        since = session.started_at
        await self.polling.approve(
            place, polled, authorization, *clients, since=since, attempt=attempt
        )
        self.emit(
            AuthorizationGranted(
                client_id=request.client.client_id,
                subject=session.subject,
                response_type="device_code",
                scope=authorization.scope,
                authorization_details_types=types_of(authorization.authorization_details),
            )
        )

    async def deny(self, parked: ParkedRequest, *, subject: str | None) -> None:
        """Refuse it, if it still waits; the user may be unknown yet."""
        place, polled = place_in(parked.params), await self.find(parked)
        if place is not None and polled is not None:
            await self.polling.deny(place, polled, attempt=_attempt_by(parked))
            self.emit(ConsentDenied(client_id=polled.client_id, subject=subject))


def _attempt_by(parked: ParkedRequest) -> str:
    """Return the id of an answer that is given in the browser whose parked request this is."""
    return digest(parked.id)


def _parameters(polled: PolledRequest, place: PolledPlace, user_code: str) -> Params:
    """Return the request as the device sent it, with what leads back to it."""
    values = {
        "client_id": (polled.client_id,),
        "scope": (format_scope(polled.scope),),
        "resource": polled.resources,
        PLACE: (f"{place.selector} {place.digest}",),
        USER_CODE: (user_code,),
    }
    if polled.authorization_details:
        values[AUTHORIZATION_DETAILS] = (orjson.dumps(polled.authorization_details).decode(),)
    return Params(values)
