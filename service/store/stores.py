"""What is stored: every kind of record, its name in the key, and how long it lives."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.authorization import Authorization
from service.model.one_time import AuthorizationCode, RefreshToken
from service.model.registered_client import RegisteredClient
from service.model.session import (
    Consent,
    LogoutDelivery,
    PendingSignIn,
    SealedRequest,
    SealedSignIn,
    Session,
)
from service.store.indexes import Index, Queue
from service.store.keyvalue import KeyValue
from service.store.records import OneTimeRecords, Records

REPLAY_WINDOW = 600
"""Seconds for which the marker of a spent code outlives the code."""

MOST = 10_000
"""Live members of an index: what one person or one token has that many of, a program has made."""

MOST_SESSIONS = 1_000
"""Sessions of one person; each may have clients to tell of its end."""

LOGOUT = "logout"
"""The selector of all that tells clients of ended sessions: one slot of a Redis Cluster."""

TOLD_WITHIN = 24 * 3600
"""Seconds after which a client is not told any more that a session has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Everything that is kept in Redis; the table of names and lifetimes is `on`."""

    kv: KeyValue
    authorizations: Records[Authorization]
    codes: OneTimeRecords[AuthorizationCode]
    access_tokens: Records[dict[str, object]]
    refresh_tokens: OneTimeRecords[RefreshToken]
    revoked: Records[bool]
    delegated: Index
    sessions: Records[Session]
    session_uses: Records[int]
    session_authorizations: Index
    session_clients: Index
    logout_queue: Queue
    logout_deliveries: Records[LogoutDelivery]
    logout_leases: Records[bool]
    consents: Records[Consent]
    subject_sessions: Index
    subject_authorizations: Index
    subject_consents: Index
    parked: Records[SealedRequest]
    parked_answers: Records[str]
    pending_sign_ins: OneTimeRecords[PendingSignIn]
    partial_sign_ins: Records[SealedSignIn]
    registered_clients: Records[RegisteredClient]
    registered_origins: Index
    used_assertions: Records[str]

    async def surplus(
        self, index: Index, selector: str, digest: str = "", *, count: int
    ) -> tuple[str, ...]:
        """Which members have to make room where there are so many.

        It is a hundredth more than is needed, so that it costs something once in a hundred times;
        and never many more, so that no request has to do the work of ten thousand others.
        """
        if count <= index.most:
            return ()
        hundredth = index.most // 100
        leaving = min(count - index.most, hundredth + 1) + hundredth
        (found,) = await self.kv.write(index.first(selector, digest, count=leaving))
        return tuple(member.decode() for member in found)

    @classmethod
    def on(cls, kv: KeyValue, *, prefix: str) -> Stores:
        """Lay out the store; an index lives as long as what it names."""

        def index(name: str, most: int = MOST) -> Index:
            return Index(prefix, name, most)

        return cls(
            kv=kv,
            # Under an authorization's id:              it lives until
            authorizations=Records(prefix, "az", Authorization, 3),  # its last token expires
            codes=OneTimeRecords(Records(prefix, "ac", AuthorizationCode)),  # REPLAY_WINDOW
            access_tokens=Records(prefix, "at", dict[str, object]),  # access_token_lifetime
            refresh_tokens=OneTimeRecords(Records(prefix, "rt", RefreshToken, 3)),  # its end
            revoked=Records(prefix, "rv", bool),  # the JWT with that jti expires
            delegated=index("de"),  # source token → tokens that were made from it
            # Under a session's sid:
            sessions=Records(prefix, "ss", Session, 3),  # idle or absolute end
            session_uses=Records(prefix, "su", int),  # likewise; when it was last used
            session_authorizations=index("sa"),  # what ends with the session
            session_clients=index("sc"),  # who is told when it ends
            logout_queue=Queue(prefix, LOGOUT, "lq", TOLD_WITHIN),  # under LOGOUT, as are:
            logout_deliveries=Records(prefix, "ld", LogoutDelivery),  # TOLD_WITHIN
            logout_leases=Records(prefix, "ll", bool),  # an attempt, and some seconds
            # Under the digest of a subject:
            consents=Records(prefix, "co", Consent),  # consent_lifetime
            subject_sessions=index("us", MOST_SESSIONS),
            subject_authorizations=index("ua"),
            subject_consents=index("uc"),
            # Under the digest of an opaque id:
            parked=Records(prefix, "pk", SealedRequest),  # 15 minutes
            parked_answers=Records(prefix, "pa", str),  # likewise; who was the first to answer it
            pending_sign_ins=OneTimeRecords(Records(prefix, "ps", PendingSignIn)),  # likewise
            partial_sign_ins=Records(prefix, "pl", SealedSignIn),  # likewise; lacks a step
            # Under a part of the client_id:
            registered_clients=Records(prefix, "rc", RegisteredClient),  # client_lifetime, if any
            # Under the digest of an origin, the clients that registered it:
            registered_origins=index("ro"),
            # Under the digest of a client_id and a jti:
            used_assertions=Records(prefix, "ja", str),  # exp; who used the assertion first
        )
