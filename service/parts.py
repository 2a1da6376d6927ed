"""What the service is made of: every part, made once, from the parts it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from time import time

from service.authorize.answer import Answering
from service.authorize.flow import AuthorizeFlow
from service.authorize.parking import Parking
from service.authorize.steps import builtin_steps
from service.client_auth import ClientAuthentication, builtin_client_auth_methods
from service.client_auth.resource_server import CallerAuthentication
from service.config.configuration import Configuration
from service.config.reload import CannotServe, ReloadableRegistry
from service.grants import GrantParts, Grants
from service.grants.extensions import ExtensionGrantError
from service.identity.authorizations import Authorizations
from service.identity.consents import Consents
from service.identity.granted_access import GrantedAccess
from service.identity.passwords import Passwords
from service.identity.providers.directory import ProviderDirectory
from service.identity.providers.sign_in import CALLBACK, ProviderSignIn
from service.identity.sessions import SessionLimits, Sessions
from service.identity.sign_in import LocalSignIn
from service.identity.subjects import Subjects
from service.identity.throttle import LoginLimits, Throttle
from service.identity.users import open_users
from service.keys.key_source import KeySource, key_source, longest_lifetime
from service.keys.keyring import KeyRing
from service.model.events import Emit
from service.model.registry import Registry
from service.model.user import UserStore
from service.observe.event_log import EventLog
from service.observe.fan_out import FanOut
from service.observe.metrics import Metrics
from service.observe.readings import Readings
from service.store.connection import open_store
from service.store.keyvalue import KeyValue
from service.store.rate_limit import RateLimit
from service.store.stores import Stores
from service.tokens.access_token import AccessTokens
from service.tokens.active import ActiveTokens
from service.tokens.granting import GrantServices
from service.tokens.id_token import IdTokens
from service.tokens.issuer import TokenIssuer
from service.tokens.refresh_token import RefreshTokens
from service.tokens.revocation import Revocation
from service.web.outgoing import Outgoing

YEAR = 366 * 24 * 3600
"""Seconds; what is indexed lives no longer, unless a client's refresh tokens do."""


def clock() -> int:
    """Now, in whole seconds since the epoch."""
    return int(time())


class Parts:
    """Each property is a part; reading it makes it, and what it needs, the first time."""

    def __init__(
        self, configuration: Configuration, environ: Mapping[str, str], *listeners: Emit
    ) -> None:
        """Take the settings, the environment for reloads, and who else wants to hear events."""
        self.configuration = configuration
        self.issuer = configuration.issuer
        self.prefix = configuration.store.key_prefix
        self.now: Callable[[], int] = clock
        self._environ = environ
        self._listeners = listeners

    # What everything stands on

    @cached_property
    def emit(self) -> Emit:
        return FanOut(EventLog(), self.metrics, *self._listeners)

    @cached_property
    def metrics(self) -> Metrics:
        return Metrics(
            grant_types=lambda: self.grants.types,
            readings=Readings(
                store_seconds_away=lambda: self.kv.seconds_away,
                store_failures=lambda: self.kv.failures,
                registry_generation=lambda: self.registry.current.generation,
                signing_keys=lambda: self.keys.signing_kids,
            ),
        )

    @cached_property
    def registry(self) -> ReloadableRegistry:
        return ReloadableRegistry(
            self.configuration, environ=self._environ, emit=self.emit, prepare=self._prepare
        )

    def _prepare(self, registry: Registry) -> None:
        try:
            self.grants.prepare(registry)
        except ExtensionGrantError as error:
            raise CannotServe(str(error)) from error

    @cached_property
    def kv(self) -> KeyValue:
        return open_store(self.configuration.store.url, timeout=self.configuration.store.timeout)

    @cached_property
    def stores(self) -> Stores:
        clients = self.configuration.registry.clients.values()
        longest = [client.absolute_refresh_token_lifetime for client in clients]
        return Stores.on(self.kv, prefix=self.prefix, horizon=max(YEAR, *longest, 0))

    @cached_property
    def key_source(self) -> KeySource:
        return key_source(
            self.configuration.signing,
            kv=self.kv,
            prefix=self.prefix,
            longest_token=lambda: longest_lifetime(self.registry.current.clients.values()),
            now=self.now,
            emit=self.emit,
        )

    @cached_property
    def keys(self) -> KeyRing:
        return self.key_source.ring

    @cached_property
    def outgoing(self) -> Outgoing:
        outgoing = self.configuration.outgoing
        return Outgoing(timeout=outgoing.timeout, ca_file=outgoing.ca_file)

    # People

    @cached_property
    def users(self) -> UserStore:
        return open_users(self.registry)

    @cached_property
    def subjects(self) -> Subjects:
        return Subjects(users=self.users)

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
            users=self.users, passwords=Passwords(), throttle=throttle, emit=self.emit
        )

    @cached_property
    def provider_sign_in(self) -> ProviderSignIn:
        return ProviderSignIn(
            redirect_uri=self.issuer.rstrip("/") + CALLBACK,
            registry=self.registry,
            directory=ProviderDirectory(http=self.outgoing, now=self.now),
            http=self.outgoing,
            stores=self.stores,
            clock_skew=self.configuration.server.clock_skew,
            emit=self.emit,
            now=self.now,
        )

    @cached_property
    def sessions(self) -> Sessions:
        session = self.configuration.session
        limits = SessionLimits(lifetime=session.lifetime, max_lifetime=session.max_lifetime)
        return Sessions(stores=self.stores, limits=limits, now=self.now, emit=self.emit)

    @cached_property
    def consents(self) -> Consents:
        return Consents(stores=self.stores, now=self.now, emit=self.emit)

    @cached_property
    def authorizations(self) -> Authorizations:
        return Authorizations(stores=self.stores, now=self.now, emit=self.emit)

    @cached_property
    def granted_access(self) -> GrantedAccess:
        return GrantedAccess(consents=self.consents, authorizations=self.authorizations)

    # Tokens

    @cached_property
    def access_tokens(self) -> AccessTokens:
        return AccessTokens(
            issuer=self.issuer, registry=self.registry, keys=self.keys, stores=self.stores
        )

    @cached_property
    def id_tokens(self) -> IdTokens:
        return IdTokens(issuer=self.issuer, registry=self.registry, keys=self.keys)

    @cached_property
    def refresh_tokens(self) -> RefreshTokens:
        return RefreshTokens(stores=self.stores)

    @cached_property
    def revocation(self) -> Revocation:
        return Revocation(stores=self.stores, now=self.now)

    @cached_property
    def active_tokens(self) -> ActiveTokens:
        return ActiveTokens(
            issuer=self.issuer,
            keys=self.keys,
            stores=self.stores,
            registry=self.registry,
            users=self.users,
            now=self.now,
        )

    @cached_property
    def token_issuer(self) -> TokenIssuer:
        return TokenIssuer(
            access_tokens=self.access_tokens,
            id_tokens=self.id_tokens,
            refresh_tokens=self.refresh_tokens,
            revocation=self.revocation,
            registry=self.registry,
            stores=self.stores,
            emit=self.emit,
            now=self.now,
        )

    # Clients and what they may be granted

    @cached_property
    def client_auth(self) -> ClientAuthentication:
        return ClientAuthentication(
            methods=builtin_client_auth_methods(), registry=self.registry, realm=self.issuer
        )

    @cached_property
    def callers(self) -> CallerAuthentication:
        return CallerAuthentication(registry=self.registry, client_auth=self.client_auth)

    @cached_property
    def token_rate_limit(self) -> RateLimit:
        return RateLimit(
            kv=self.kv,
            prefix=self.prefix,
            name="token",
            per_minute=self.configuration.limits.token_requests_per_minute,
            now=self.now,
        )

    @cached_property
    def grants(self) -> Grants:
        services = GrantServices(
            issuer=self.issuer,
            registry=self.registry,
            users=self.users,
            active_tokens=self.active_tokens,
            emit=self.emit,
        )
        return Grants(
            GrantParts(
                services=services,
                stores=self.stores,
                sign_in=self.local_sign_in,
                refresh_tokens=self.refresh_tokens,
                revocation=self.revocation,
            )
        )

    @cached_property
    def flow(self) -> AuthorizeFlow:
        answering = Answering(
            access_tokens=self.access_tokens,
            id_tokens=self.id_tokens,
            registry=self.registry,
            stores=self.stores,
            emit=self.emit,
        )
        return AuthorizeFlow(
            issuer=self.issuer,
            registry=self.registry,
            keys=self.keys,
            steps=builtin_steps(),
            parking=self.parking,
            consents=self.consents,
            answering=answering,
            emit=self.emit,
            now=self.now,
        )

    @cached_property
    def parking(self) -> Parking:
        return Parking(stores=self.stores)
