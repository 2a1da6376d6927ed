"""Everything that is stored: each kind of record, its name in the key, and how long it lives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Generic, TypeVar

import msgspec

from service.model.authorization import Authorization, AuthorizationCode, RefreshToken
from service.model.backchannel import BackchannelDelivery, BackchannelRequest
from service.model.client_metadata import RegisteredClient
from service.model.handle import new_selector
from service.model.password_hash import RefusalCost
from service.model.polling import Decision, PolledPlace, PolledRequest
from service.model.session import (
    Consent,
    LogoutDelivery,
    PendingSignIn,
    SealedRequest,
    SealedSignIn,
    Session,
)
from service.model.webhook import WebhookDelivery
from service.store.keyvalue import KeyValue
from service.store.lanes import Lanes
from service.store.records import Index, Queue, Records, used_once
from service.store.verbs import STEP, Command, Read, steps

T = TypeVar("T")
Q_co = TypeVar("Q_co", bound=Queue | Lanes, covariant=True)

REPLAY_WINDOW = 600
"""Seconds for which the marker of a spent code outlives the code."""

REPLICAS_DIFFER = 10
"""Seconds by which the clocks of replicas may differ without a proof or an assertion being accepted twice."""

MAX_MEMBERS = 10_000
"""Live members of an index; only a program makes more of anything for one user or one token."""

MAX_SESSIONS = 1_000
"""Sessions of one user; each may have clients to notify of its end."""

MAX_CODES = 200
"""Codes of one client for one user that are not redeemed; a user has a few browsers."""

LOGOUT = "logout"
"""The selector of everything about notifying clients of ended sessions: one slot of a Redis Cluster."""

CIBA = "ciba"
"""The selector of all messages about CIBA requests."""

CIBA_DEAD = 3600
"""Seconds for which a dead letter about a CIBA request is kept; soon after the request it says nothing."""

WEBHOOKS = "webhooks"
"""The selector of all events that wait for webhooks."""

WEBHOOK_LIMIT = 20_000
"""Events that wait for one webhook at most."""

WEBHOOK_BYTES = 32 << 20
"""Bytes that these may have."""

EVENT_LIFETIME = 8 * 86400
"""Seconds for which an event and what is known of its order are kept: a day of attempts, and a week as a dead letter."""

REGISTERED = "registered"
"""The selector of the list of all clients that registered themselves."""

PASSWORDS = "passwords"
"""The selector of what holds for all passwords."""

DELIVERY_LIFETIME = 24 * 3600
"""Seconds after which a client is not notified any more that a session has ended."""


class OutboxRecords(msgspec.Struct, Generic[Q_co, T], frozen=True, kw_only=True):
    """Everything that is stored of the messages of one kind, under the selector of their queue."""

    queue: Q_co
    deliveries: Records[T]
    leases: Records[bool]
    """Each for an attempt, and some seconds."""
    dead: Queue
    """The dead letters, by the time of their last attempt."""


class Stores:
    """The table of all that is stored; an index lives as long as the last of its members."""

    def __init__(self, kv: KeyValue, *, prefix: str) -> None:
        def index(name: str, limit: int = MAX_MEMBERS) -> Index:
            return Index(prefix, name, limit)

        self.kv = kv
        self._long_list = asyncio.Lock()
        # Under an authorization's id:                              until
        self.authorizations = Records(prefix, "az", Authorization, 4)  # its last token expires
        self.codes = used_once(Records(prefix, "ac", AuthorizationCode))  # REPLAY_WINDOW
        self.access_tokens = Records(prefix, "at", dict[str, object])  # its lifetime ends
        self.refresh_tokens = used_once(Records(prefix, "rt", RefreshToken, 4))  # its end
        self.revoked = Records(prefix, "rv", bool)  # the JWT with that jti expires
        self.delegated = index("de")  # source token → tokens that were made from it
        # Under a session's sid:
        self.sessions = Records(prefix, "ss", Session, 4)  # its idle or absolute end
        self.session_uses = Records(prefix, "su", int)  # likewise; the time of its last use
        self.fresh_logins = Records(prefix, "fl", str)  # identity/sign_in.py
        self.session_authorizations = index("sa")  # those that end with the session
        self.session_clients = index("sc")  # those that are notified of its end
        # Under the digest of a subject:
        self.consents = Records(prefix, "co", Consent)  # consent_lifetime
        self.subject_sessions = index("us", MAX_SESSIONS)
        self.subject_authorizations = index("ua")
        self.subject_consents = index("uc")
        self.subject_codes = index("uk", MAX_CODES)  # for each client_id, until they expire
        self.access_ends = Records(prefix, "ae", int)  # tokens/liveness.py
        self.factors = Records(prefix, "fa", str)  # no TTL; sealed by identity/factors/stored.py
        self.last_seen = Records(prefix, "ls", str)  # users.grace; sealed by sources/last_seen.py
        # Under the digest of a client_id, trusted issuer or identity provider and a jti, the first attempt that used the assertion or logout token:
        self.used_assertions = Records(prefix, "ja", str)  # exp
        self._name_clients(prefix)
        self._name_sign_ins(prefix)
        self._name_polled(prefix)
        self._name_outboxes(prefix)

    def _name_clients(self, prefix: str) -> None:
        # Under a part of the client_id:
        self.registered_clients = Records(prefix, "rc", RegisteredClient)  # client_lifetime, if any
        # Under REGISTERED, those clients, and that all of them are listed:
        self.registered_list = Index(prefix, "ri", MAX_MEMBERS)  # the last of them expires
        self.registered_list_made = Records(prefix, "rm", bool)
        # Under the digest of an origin, the clients that registered it:
        self.registered_origins = Index(prefix, "ro", MAX_MEMBERS)
        # Under the digest of a client or an API, by the position of each of its secrets:
        self.secret_uses = Records(prefix, "lu", str)  # 400 days; clients/secret_uses.py

    def _name_sign_ins(self, prefix: str) -> None:
        # Under the digest of a key's thumbprint and a jti, the first attempt that used the DPoP proof:
        self.used_proofs = Records(prefix, "dp", str)  # dpop.proof_lifetime, and some seconds
        # Under the digest of an opaque id, for 15 minutes:
        self.parked = Records(prefix, "pk", SealedRequest, 2)
        self.parked_answers = Records(prefix, "pa", str)  # the first attempt to answer it
        self.pending_sign_ins = used_once(Records(prefix, "ps", PendingSignIn, 2))
        self.partial_sign_ins = Records(prefix, "pl", SealedSignIn)  # a sign-in that lacks a step
        self.passkey_challenges = Records(prefix, "wc", str)  # the digest of what it was made for
        # Under the digest of the cookie of the admin console, the user's sign-in there and its method:
        self.console_sessions = Records(prefix, "cs", Authorization)  # 15 minutes unused
        # Under the digest of a user or session at an identity provider (identity/provider_sessions.py):
        self.provider_sessions = Index(prefix, "px", MAX_MEMBERS)  # those here that came from it
        self.provider_accounts = Index(prefix, "pt", MAX_MEMBERS)  # identity/provider_accounts.py
        self.provider_logouts = Records(prefix, "pe", int)  # an hour; the time of its logout there
        # Under the digest of a passkey's id, whose it is:
        self.passkey_owners = Records(prefix, "po", str)  # no TTL
        # Under PASSWORDS:
        self.refusal_costs = Records(prefix, "pc", RefusalCost)  # identity/refusal_costs.py

    def _name_polled(self, prefix: str) -> None:
        """Name what is kept until REPLAY_WINDOW after the end of a request that its client polls for."""
        # Under the id of the authorization that the user has granted:
        self.approvals = used_once(Records(prefix, "ap", bool))
        # Under the selector of the device code or auth_req_id:
        self.polled_requests = Records(prefix, "pq", PolledRequest)
        self.poll_paces = Records(prefix, "pp", str)  # verbs.new_pace
        self.decisions = Records(prefix, "pd", Decision)
        # Under the digest of a user code, while its device code lives:
        self.user_codes = Records(prefix, "dc", PolledPlace)
        self._add_ciba(prefix)

    def _add_ciba(self, prefix: str) -> None:
        # Under the selector of an auth_req_id, until its end:
        self.backchannel_requests = Records(prefix, "bq", BackchannelRequest)
        # Under the digest of a subject, those that wait for the user:
        self.subject_requests = Index(prefix, "ub", MAX_MEMBERS)

    def _name_outboxes(self, prefix: str) -> None:
        # Under LOGOUT, until DELIVERY_LIFETIME after the end of the session:
        self.logout_outbox = OutboxRecords(
            queue=Queue(prefix, LOGOUT, "lq", DELIVERY_LIFETIME),
            deliveries=Records(prefix, "ld", LogoutDelivery, 2),
            leases=Records(prefix, "ll", bool),
            dead=Queue(prefix, LOGOUT, "lx", DELIVERY_LIFETIME),
        )
        # Under CIBA, until 20 minutes after the request's end:
        self.ciba_outbox = OutboxRecords(
            queue=Queue(prefix, CIBA, "cq", DELIVERY_LIFETIME),
            deliveries=Records(prefix, "cd", BackchannelDelivery, 2),
            leases=Records(prefix, "cl", bool),
            dead=Queue(prefix, CIBA, "cx", CIBA_DEAD),
        )
        # Under WEBHOOKS, until EVENT_LIFETIME after the last change:
        events = Queue(prefix, WEBHOOKS, "wq", EVENT_LIFETIME)
        self.webhook_outbox = OutboxRecords(
            queue=Lanes(events, WEBHOOK_LIMIT, WEBHOOK_BYTES),
            deliveries=Records(prefix, "wd", WebhookDelivery),
            leases=Records(prefix, "wl", bool),
            dead=Queue(prefix, WEBHOOKS, "wx", EVENT_LIFETIME),
        )

    async def walk_listed(
        self, listed: Command, read: Callable[[str], Read[T]]
    ) -> AsyncIterator[list[T]]:
        """Return the records that still exist of those that a command lists, in steps."""
        (members,) = await self.kv.read_members(listed)
        async for found in self.walk(members, read):
            yield found

    async def walk(
        self, members: Sequence[str], read: Callable[[str], Read[T]]
    ) -> AsyncIterator[list[T]]:
        """Return the records of these members that still exist, in steps.

        However many requests walk through long lists, one of them takes a step in a turn of the loop.
        """
        for some in steps(members):
            if len(members) <= STEP:
                found = await self.kv.read(*map(read, some))
            else:
                async with self._long_list:
                    found = await self.kv.read(*map(read, some))
            yield [one for one in found if one is not None]

    async def walk_all(self, records: Records[T]) -> AsyncIterator[list[T]]:
        """Return all records of a kind that has one for each selector, in steps as `walk`; walks the whole store, so only for operators."""
        async for keys in self.kv.find_key_batches(records.key("*"), size=STEP):
            selectors = [key.rpartition("{")[2].partition("}")[0] for key in keys]
            async with self._long_list:
                found = await self.kv.read(*map(records.read, dict.fromkeys(selectors)))
            yield [one for one in found if one is not None]

    async def read_listed(self, listed: Command, read: Callable[[str], Read[T]]) -> tuple[T, ...]:
        """Return the records that still exist of those that a command lists."""
        walk = self.walk_listed(listed, read)
        return tuple([one async for some in walk for one in some])

    async def is_first_use(self, used: Records[str], key: str, *, ttl: int) -> bool:
        """Return whether no replica has used what has this key, and remember the use for as many seconds as it is valid.

        It is remembered longer, because it is valid longer at a replica whose clock is behind.
        """
        attempt, remembered = new_selector(), ttl + REPLICAS_DIFFER
        (written,) = await self.kv.write(used.put_new(attempt, key, ttl=remembered), durable=True)
        return await self.is_first(attempt, used.read(key), written)

    async def is_first(self, value: T, read: Read[T], written: object) -> bool:
        """Return whether a `put_new` has stored this value, by the reply to it.

        The engine may have repeated the command; then what is there is the value, and the reply says no.
        """
        return bool(written) or await self.kv.read(read) == (value,)

    async def find_surplus(
        self, index: Index, selector: str, digest: str = "", *, count: int
    ) -> tuple[str, ...]:
        """Return the members that have to make room if there are `count`, those that expire first.

        They are some more than necessary, so that this is needed rarely; and never many more, so that no request has to do the
        work of ten thousand others. Of requests that exceed the limit at the same moment, few make room: each has another count.
        """
        excess = count - index.limit
        if excess <= 0:
            return ()
        spare = index.spare
        if excess <= spare and (excess - 1) % max(spare // 2, 1):
            return ()
        leaving = min(excess, spare + 1) + spare
        (surplus,) = await self.kv.read_members(index.first(selector, digest, count=leaving))
        return surplus
