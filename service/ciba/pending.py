"""Keeps CIBA requests until their users have answered them (CIBA Core §7.3, §8)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from service.authorize.acr import AskedAcr, find_required_acr
from service.ciba.messages import Messages
from service.ciba.request import CibaRequest, Hints
from service.clock import clock
from service.identity.sessions import new_authorization
from service.model.backchannel import BackchannelRequest
from service.model.client import Client
from service.model.handle import digest, is_selector
from service.model.polling import CIBA, Decision, PolledPlace, PolledRequest
from service.model.registry import Registry
from service.model.session import Session
from service.protocol.errors import TooManyRequests
from service.store.rate_limit import RateLimit
from service.store.records import Index
from service.store.room import Room
from service.store.stores import Stores
from service.store.verbs import Command
from service.tokens.polling import Polling, StartedPolling, start

MAX_WAITING = 50
"""Requests that wait for one user; more would hide each other."""

PER_MINUTE = 20
"""Requests of one client for one user: a person who is asked again and again allows one day what they did not want."""


class PendingRequest(msgspec.Struct, frozen=True):
    """A request that waits for the user's answer."""

    ref: str
    shown: BackchannelRequest
    polled: PolledRequest

    @property
    def place(self) -> PolledPlace:
        return PolledPlace(self.ref, self.shown.digest)

    def asked_acr(self, client: Client, registry: Registry) -> AskedAcr:
        """Return what the client wishes for, and what registrations demand."""
        polled = self.polled
        required = find_required_acr(
            client, registry, polled.scope, polled.resources, polled.authorization_details
        )
        return AskedAcr(values=self.shown.acr_values, required=required)


class CibaRequests(msgspec.Struct, frozen=True, kw_only=True):
    polling: Polling
    messages: Messages
    hints: Hints
    per_user: RateLimit
    room: Room
    interval: int

    @property
    def stores(self) -> Stores:
        return self.polling.stores

    async def begin(self, asked: CibaRequest, *, address: str) -> StartedPolling:
        """Store a request, and what has to be told of it later; raise TooManyRequests where too many wait for the user."""
        client, subject = asked.request.client, asked.hinted.user.sub
        await self._check_room(client, subject)
        now = clock()
        expires_at = now + asked.expires_in
        polled = PolledRequest(
            client_id=client.client_id,
            grant_type=CIBA,
            scope=asked.request.scope,
            resources=asked.request.resources,
            authorization_details=asked.request.authorization_details,
            expires_at=expires_at,
        )
        started = start(self.stores, polled, "auth_req_id", interval=self.interval)
        ref = started.place.selector
        shown = BackchannelRequest(
            client_id=client.client_id,
            subject=subject,
            digest=started.place.digest,
            scope=polled.scope,
            binding_message=asked.binding_message,
            acr_values=asked.request.acr.values,
            created_at=now,
            expires_at=expires_at,
        )
        put = self.stores.backchannel_requests.put(shown, ref, ttl=asked.expires_in)
        await self.room.take(client, *started.writes, put, address=address)
        for token in asked.once:
            await self.hints.consume(token)
        await self.stores.kv.write(
            *started.writes,
            put,
            self._waiting.add(digest(subject), ref, expires_at=expires_at),
            *self.messages.keep_ping(started, asked, expires_at),
        )
        return started

    async def _check_room(self, client: Client, subject: str) -> None:
        await self.per_user.count(f"{client.client_id} {subject}")
        (waiting,) = await self.stores.kv.write(self._waiting.count(digest(subject)))
        if waiting >= MAX_WAITING:
            raise TooManyRequests("too many requests wait for this user")

    async def find_all_of(self, subject: str) -> Sequence[PendingRequest]:
        """Return what waits for a user, the oldest first."""
        (refs,) = await self.stores.kv.read_members(self._waiting.members(digest(subject)))
        found = [await self.find(ref, subject) for ref in refs[:MAX_WAITING]]
        pending = [one for one in found if one is not None]
        return sorted(pending, key=lambda one: one.shown.created_at)

    async def find(self, ref: str, subject: str) -> PendingRequest | None:
        """Return a request that waits for this user; None for another user's, and for one that is over."""
        shown = await self._find_shown(ref, subject)
        if shown is None:
            return None
        polled = await self.polling.find_pending(PolledPlace(ref, shown.digest))
        return None if polled is None else PendingRequest(ref, shown, polled)

    async def find_decision(self, ref: str, subject: str) -> Decision | None:
        """Return the user's answer to a request; None for another user's, and for one without an answer."""
        shown = await self._find_shown(ref, subject)
        if shown is None:
            return None
        return await self.polling.find_decision(PolledPlace(ref, shown.digest))

    async def _find_shown(self, ref: str, subject: str) -> BackchannelRequest | None:
        if not is_selector(ref):
            return None
        (shown,) = await self.stores.kv.read(self.stores.backchannel_requests.read(ref))
        return shown if shown is not None and shown.subject == subject else None

    async def approve(
        self, pending: PendingRequest, session: Session, client: Client, registry: Registry
    ) -> None:
        """Let the client have its tokens; raise AlreadyAnswered if the user has answered before."""
        polled = pending.polled
        authorization = new_authorization(
            session,
            client=client,
            scope=polled.scope,
            resources=polled.resources,
            authorization_details=polled.authorization_details,
            acr=pending.asked_acr(client, registry).met_by(session, registry),
            grant_type=polled.grant_type,
        )
        ends, since = self._end(pending), session.started_at
        await self.polling.approve(pending.place, polled, authorization, *ends, since=since)
        await self.messages.ping(pending.ref)

    async def deny(self, pending: PendingRequest) -> None:
        """Refuse the client; raise AlreadyAnswered if the user has answered before."""
        await self.polling.deny(pending.place, pending.polled, *self._end(pending))
        await self.messages.ping(pending.ref)

    def _end(self, pending: PendingRequest) -> list[Command]:
        """Return what goes with a decision: the request leaves the user's list, and a ping to its client is due soon."""
        return [
            self._waiting.remove(digest(pending.shown.subject), pending.ref),
            self.messages.hurry_ping(pending.ref),
        ]

    @property
    def _waiting(self) -> Index:
        return self.stores.subject_requests
