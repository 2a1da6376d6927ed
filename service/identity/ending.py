"""Ends all that a user has: sessions, grants with their codes and tokens, consents, and what waits for the user."""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from service.clock import clock
from service.identity.access import Authorizations, Consents
from service.identity.sessions import Sessions, queue_logouts
from service.model.backchannel import BackchannelRequest, message_id
from service.model.handle import digest, new_selector
from service.model.polling import Decision
from service.store.stores import REPLAY_WINDOW, Stores
from service.store.verbs import Command, steps
from service.tokens.liveness import note_end


class EndedAccess(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of what has ended."""

    sessions: int
    grants: int
    """Those that had not ended with their session; a code that is not redeemed yet, or an answer that waits for its poll, has one, too."""
    consents: int
    requests: int
    """CIBA requests that waited for the user."""


class UserEnding(msgspec.Struct, frozen=True, kw_only=True):
    """Ends it at all replicas, also what is begun at the same moment; to repeat it changes nothing more.

    Requests that a browser has parked or a client has pushed hold no sign-in: what was answered in a session counts in that one
    alone. A device's code belongs to nobody before its user allows it.
    """

    stores: Stores
    sessions: Sessions
    authorizations: Authorizations
    consents: Consents
    longest_access: Callable[[], int]
    """Returns the seconds for which a sign-in may be on its way, or a token live that no record stands for."""

    async def end(self, subject: str, *, asked_by: str = "") -> EndedAccess:
        """End all of it; whatever is granted from now on needs a sign-in that begins after this.

        That is noted for a party that has asked for it, too.
        """
        parties, ttl = {"", asked_by}, self.longest_access()
        notes = [note_end(self.stores, subject, one, ttl=ttl) for one in parties]
        await self.stores.kv.write(*notes, durable=True)
        consents = await self.consents.withdraw_all(subject)  # so that nothing new relies on them
        sessions = await self.sessions.find_all_of(subject)
        await self.sessions.end(*sessions)
        requests = await self._refuse_requests(subject)
        # Last: a code, or an answer to a request, that was faster than the end has its grant in the index by now.
        grants = await self._end_grants(subject, told_of={one.id for one in sessions})
        return EndedAccess(
            sessions=len(sessions), grants=grants, consents=consents, requests=requests
        )

    async def _end_grants(self, subject: str, *, told_of: Collection[str]) -> int:
        """End all authorizations; return how many there were.

        The end of a session that was over before is announced to the clients that got them in it: such a client may have a
        session of its own still (OIDC Back-Channel Logout §2.5). Without a session it is the end of all that it has of the user (§2.4).
        """
        stores, count = self.stores, 0
        async for some in self.authorizations.walk_all_of(subject):
            ends = {(subject, one.session_id or "", one.client_id) for one in some}
            logouts = [each for each in ends if each[1] not in told_of]
            for these in steps(logouts):
                await stores.kv.write(*queue_logouts(stores, these), durable=True)
            await self.authorizations.end(*some)
            count += len(some)
        self.sessions.ended.set()
        return count

    async def _refuse_requests(self, subject: str) -> int:
        """Let the polls of CIBA requests that wait for the user be refused; return how many."""
        stores, refused = self.stores, 0
        listed = stores.subject_requests.members(digest(subject))
        (refs,) = await stores.kv.read_members(listed)
        for some in steps(refs):
            found = await stores.kv.read(*map(stores.backchannel_requests.read, some))
            writes = [
                write
                for ref, shown in zip(some, found, strict=True)
                if shown is not None
                for write in self._refuse(ref, shown)
            ]
            await stores.kv.write(*writes, durable=True)
            refused += sum(one is not None for one in found)
        return refused

    def _refuse(self, ref: str, shown: BackchannelRequest) -> tuple[Command, ...]:
        """Return the commands of a refusal; of several answers the first one counts."""
        stores, decision = self.stores, Decision(attempt=new_selector())
        ttl = shown.expires_at - clock() + REPLAY_WINDOW
        return (
            stores.subject_requests.remove(digest(shown.subject), ref),
            stores.ciba_outbox.queue.defer(message_id("ping", ref), seconds=0),
            stores.decisions.put_new(decision, ref, shown.digest, ttl=ttl),
        )
