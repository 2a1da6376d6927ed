"""Builds what keeps the records of users, and what reads the users themselves."""

from __future__ import annotations

import asyncio

from service.identity.access import Authorizations, Consents, GrantedAccess
from service.identity.factors.guesses import Guesses
from service.identity.factors.stored import EnrolledFactors, StoredFactors
from service.identity.sessions import Sessions
from service.identity.sign_in import PartialSignIns
from service.identity.sources import Tools, open_users
from service.identity.users import Directory
from service.parts.shared import Shared


class UserRecords:
    """The records of users in the store, which can be read without the users themselves."""

    def __init__(self, shared: Shared) -> None:
        stores, emit = shared.stores, shared.emit
        session = shared.configuration.session
        self.sessions = Sessions(
            stores=stores,
            lifetime=session.lifetime,
            max_lifetime=session.max_lifetime,
            ended=asyncio.Event(),
            emit=emit,
        )
        self.partial_sign_ins = PartialSignIns(stores)
        longest = session.max_lifetime
        self.consents = Consents(stores=stores, longest_session=longest, emit=emit)
        self.authorizations = Authorizations(stores=stores, longest_session=longest, emit=emit)
        self.access = GrantedAccess(consents=self.consents, authorizations=self.authorizations)


def open_directory(shared: Shared) -> Directory:
    """Return the users, wherever they come from; CannotServe if their system cannot be opened."""
    tools = Tools(
        registry=shared.registry,
        open_http=shared.http_of_users,
        stores=shared.stores,
        seal=shared.seal,
        timed=shared.timed,
    )
    return open_users(shared.configuration.users, tools)


def open_factors(shared: Shared, users: Directory) -> EnrolledFactors:
    """Return the second factors of users, which are in the store unless the users' own system keeps them."""
    return EnrolledFactors(users.factor_store or StoredFactors(shared.stores, shared.seal))


def open_guesses(shared: Shared) -> Guesses:
    """Return the counters of wrong codes."""
    lockout = shared.configuration.limits.lockout
    return Guesses(kv=shared.kv, prefix=shared.prefix, lockout=lockout)
