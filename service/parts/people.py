"""Who people are, where they are signed in and what they allowed."""

from __future__ import annotations

import asyncio
from functools import cached_property

from service.identity.authorizations import Authorizations
from service.identity.consents import Consents
from service.identity.decoy import Decoy
from service.identity.granted_access import GrantedAccess
from service.identity.passwords import Passwords, turns_per_core
from service.identity.providers.directory import ProviderDirectory
from service.identity.providers.sign_in import CALLBACK, ProviderSignIn
from service.identity.refusal_times import RefusalTimes
from service.identity.sessions import SessionLimits, Sessions
from service.identity.sign_in import LocalSignIn
from service.identity.subjects import Subjects
from service.identity.throttle import LoginLimits, Throttle
from service.identity.users import open_users
from service.model.user import UserStore
from service.parts.registration import Registration
from service.store.rate_limit import RateLimit


class People(Registration):
    """The parts that know users and sessions."""

    @cached_property
    def users(self) -> UserStore:
        return open_users(self.registry)

    @cached_property
    def subjects(self) -> Subjects:
        return Subjects(users=self.users, registry=self.registry)

    @cached_property
    def local_sign_in(self) -> LocalSignIn:
        limits = self.configuration.limits
        throttle = Throttle(
            kv=self.kv,
            prefix=self.prefix,
            limits=LoginLimits(
                failures=limits.login_failures, window=limits.login_window, lockout=limits.lockout
            ),
        )
        return LocalSignIn(
            users=self.users,
            passwords=Passwords(decoy=Decoy(self.registry)),
            turns=turns_per_core(),
            refusal_times=RefusalTimes(),
            throttle=throttle,
            emit=self.emit,
        )

    @cached_property
    def parking_rate_limit(self) -> RateLimit:
        """For each network: what is kept while a person is asked, here or at a provider."""
        return RateLimit(
            kv=self.kv,
            prefix=self.prefix,
            name="parked",
            per_minute=self.configuration.limits.parked_requests_per_minute,
            now=self.now,
        )

    @cached_property
    def provider_sign_in(self) -> ProviderSignIn:
        http = self.http_for("identity_provider", self.outgoing)
        return ProviderSignIn(
            redirect_uri=self.issuer.rstrip("/") + CALLBACK,
            registry=self.registry,
            directory=ProviderDirectory(http=http, now=self.now),
            http=http,
            stores=self.stores,
            rate_limit=self.parking_rate_limit,
            clock_skew=self.configuration.server.clock_skew,
            emit=self.emit,
            now=self.now,
        )

    @cached_property
    def sessions(self) -> Sessions:
        session = self.configuration.session
        limits = SessionLimits(lifetime=session.lifetime, max_lifetime=session.max_lifetime)
        return Sessions(
            stores=self.stores,
            limits=limits,
            ended=self.session_ended,
            now=self.now,
            emit=self.emit,
        )

    @cached_property
    def session_ended(self) -> asyncio.Event:
        return asyncio.Event()

    @cached_property
    def consents(self) -> Consents:
        return Consents(stores=self.stores, now=self.now, emit=self.emit)

    @cached_property
    def authorizations(self) -> Authorizations:
        return Authorizations(stores=self.stores, now=self.now, emit=self.emit)

    @cached_property
    def granted_access(self) -> GrantedAccess:
        return GrantedAccess(consents=self.consents, authorizations=self.authorizations)
