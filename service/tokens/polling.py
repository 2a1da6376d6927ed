"""Lets a client poll for an authorization that the user decides elsewhere: device codes (RFC 8628), CIBA's auth_req_id.

All that both have in common: the stored request, its atomic decision, and the answers to a poll.

1. The endpoint makes a `PolledRequest` and calls `start`; it writes the commands that it gets,
   with its own (a user code, a list of the user's requests), in one round trip.
2. A page finds the request by its `PolledPlace` with `find_pending`, and ends it with `approve` or
   `deny`: of several answers, at whatever replica, the first one counts; later ones raise AlreadyAnswered.
3. The grant parses its handle and returns the result of `poll`: one round trip while the user has
   not decided. The issuer then uses the approval up, together with issuing the tokens, once.
"""

from __future__ import annotations

import msgspec

from service.clock import clock
from service.events.event import Emit
from service.model.authorization import Authorization, Spent, new_attempt
from service.model.handle import Handle, HandleKind, digest, new_handle, new_selector
from service.model.polling import Decision, PolledPlace, PolledRequest
from service.model.registry import LiveRegistry
from service.protocol.errors import (
    AccessDenied,
    AlreadyAnswered,
    AuthorizationPending,
    ExpiredToken,
    InvalidGrant,
    LoginRequired,
    OAuthError,
    SlowDown,
)
from service.store import verbs
from service.store.stores import REPLAY_WINDOW, Stores
from service.store.verbs import Command
from service.tokens.granting import ContinuedGrant, TokenRequest
from service.tokens.liveness import (
    Revocation,
    SingleUse,
    ask_end,
    begin,
    drop,
    is_ended,
    make_room,
)
from service.tokens.permitted import continue_authorization
from service.tokens.requested_access import continue_grant

INTERVAL = 5
"""Seconds that a client has to wait between two polls, unless it is told otherwise (RFC 8628 §3.2)."""


class StartedPolling(msgspec.Struct, frozen=True):
    handle: Handle
    """The client polls with its text."""
    place: PolledPlace
    writes: tuple[Command, ...]
    """The commands that store the request."""


def start(
    stores: Stores, request: PolledRequest, kind: HandleKind, *, interval: int = INTERVAL
) -> StartedPolling:
    """Return a new handle for a request, and the commands that store it until ten minutes after its end."""
    handle = new_handle(kind, new_selector())
    place = PolledPlace(handle.selector, handle.digest)
    ttl, owner = _ttl(request), _pace_name(handle, request.client_id)
    writes = (
        stores.polled_requests.put(request, place.selector, place.digest, ttl=ttl),
        stores.poll_paces.put(verbs.new_pace(interval), place.selector, owner, ttl=ttl),
    )
    return StartedPolling(handle, place, writes)


class Polling(msgspec.Struct, frozen=True, kw_only=True):
    registry: LiveRegistry
    revocation: Revocation
    emit: Emit

    @property
    def stores(self) -> Stores:
        return self.revocation.stores

    async def find_pending(self, place: PolledPlace) -> PolledRequest | None:
        """Return the request, for the user; None if it has expired or was answered."""
        request, decision = await self.stores.kv.read(
            self.stores.polled_requests.read(place.selector, place.digest),
            self.stores.decisions.read(place.selector, place.digest),
        )
        is_over = request is None or decision is not None or request.expires_at <= clock()
        return None if is_over else request

    async def find_decision(self, place: PolledPlace) -> Decision | None:
        """Return the user's answer; None before it was given."""
        (found,) = await self.stores.kv.read(
            self.stores.decisions.read(place.selector, place.digest)
        )
        return found

    async def approve(
        self,
        place: PolledPlace,
        request: PolledRequest,
        authorization: Authorization,
        *writes: Command,
        since: int,
        attempt: str = "",
    ) -> None:
        """Let the next poll have the authorization, whose id is new and whose `grant_type` is the request's.

        It is written, with further commands, in the one round trip that decides; whose answer is not
        the first one takes it back and raises AlreadyAnswered. If the user's session, which began at `since`, or all
        access of the user has ended in the same moment nothing is decided: LoginRequired.
        """
        stores, one, ttl = self.stores, authorization.id, _ttl(request)
        decision = Decision(attempt=attempt or new_selector(), authorization_id=one)
        answers = await stores.kv.write(
            *begin(stores, authorization, ttl=ttl),
            *writes,
            stores.approvals.put(True, one, ttl=ttl),
            stores.sessions.exists(str(authorization.session_id)),
            ask_end(stores, str(authorization.subject)),
            self._decide(decision, place, ttl),
            durable=True,
        )
        try:
            *_, is_alive, end, decided = answers
            await self._require_first(decision, place, decided)
            is_over = authorization.session_id is not None and not is_alive
            if is_over or is_ended(stores, end, since=since):
                await stores.kv.write(stores.decisions.drop(place.selector, place.digest))
                raise LoginRequired("the session has ended")
        except OAuthError:
            await stores.kv.write(*drop(stores, authorization), stores.approvals.drop(one))
            raise
        await make_room(stores, authorization, count=answers[0], emit=self.emit)

    async def deny(
        self, place: PolledPlace, request: PolledRequest, *writes: Command, attempt: str = ""
    ) -> None:
        """Let every poll be refused; raise AlreadyAnswered if the user has decided before.

        Further commands are in the same round trip.
        """
        decision = Decision(attempt=attempt or new_selector())
        write = self._decide(decision, place, _ttl(request))
        answers = await self.stores.kv.write(*writes, write, durable=True)
        await self._require_first(decision, place, answers[-1])

    async def poll(self, handle: Handle, request: TokenRequest) -> ContinuedGrant:
        """Return the approved grant; raise what RFC 8628 §3.5 and CIBA Core §11 say otherwise.

        A poll that is too early makes the interval longer, for all replicas; another client's
        changes nothing. Once the user has decided, no poll is too early.
        """
        stores, client_id, name = self.stores, request.client.client_id, handle.kind
        pace = stores.poll_paces.key(handle.selector, _pace_name(handle, client_id))
        is_early, (polled, decision) = await stores.kv.read_after(
            verbs.pace(pace, request.now, new_selector()),
            stores.polled_requests.read(handle.selector, handle.digest),
            stores.decisions.read(handle.selector, handle.digest),
        )
        if polled is None or polled.grant_type != request.grant_type:
            raise InvalidGrant(f"the {name} is unknown or expired long ago")
        if polled.client_id != client_id:
            raise InvalidGrant(f"the {name} was issued to another client")
        request.check_key(polled.cnf, name)
        if polled.expires_at <= request.now:
            raise ExpiredToken(f"the {name} has expired before it was used: ask for a new one")
        if decision is None and is_early:
            raise SlowDown("polled too soon: the interval is five seconds longer from now on")
        if decision is None:
            raise AuthorizationPending("the user has not decided yet")
        if decision.authorization_id is None:
            raise AccessDenied("the user refused")
        return await self._continue(decision.authorization_id, polled, request, name)

    async def _continue(
        self, authorization_id: str, polled: PolledRequest, request: TokenRequest, name: str
    ) -> ContinuedGrant:
        """Return what was approved, once.

        A second use is refused and revokes nothing: only its own client can make it, as one does that lost the answer.
        """
        stores = self.stores
        approval, authorization = await stores.kv.read(
            stores.approvals.read(authorization_id), stores.authorizations.read(authorization_id)
        )
        if approval is None or authorization is None:
            raise InvalidGrant("what the user approved was revoked")
        if isinstance(approval, Spent):
            raise InvalidGrant(f"the {name} has been used")
        registry = self.registry.current
        permissions = registry.permissions_of(request.client)
        authorization = continue_authorization(authorization, permissions)
        marker = Spent(attempt=new_attempt(), at=request.now)
        single_use = SingleUse(
            swap=stores.approvals.swap(marker, authorization_id, ttl=_ttl(polled)),
            attempt=marker.attempt,
            replay=None,
        )
        return continue_grant(authorization, request, registry, single_use=single_use)

    def _decide(self, decision: Decision, place: PolledPlace, ttl: int) -> Command:
        return self.stores.decisions.put_new(decision, place.selector, place.digest, ttl=ttl)

    async def _require_first(self, decision: Decision, place: PolledPlace, written: object) -> None:
        """Raise AlreadyAnswered unless this decision is the one that is stored."""
        first = self.stores.decisions.read(place.selector, place.digest)
        if not await self.stores.is_first(decision, first, written):
            raise AlreadyAnswered("this was answered already")


def _pace_name(handle: Handle, client_id: str) -> str:
    """Return the name of the record that only the client's own polls find, and so change."""
    return digest(f"{handle.digest} {client_id}")


def _ttl(request: PolledRequest) -> int:
    """Return the seconds until a code is forgotten, and with it whether it was used."""
    return request.expires_at - clock() + REPLAY_WINDOW
