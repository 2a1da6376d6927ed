"""What mints tokens, finds them and ends them, and who may ask for them."""

from __future__ import annotations

from functools import cached_property

from service.client_auth import ClientAuthentication, builtin_client_auth_methods
from service.client_auth.resource_server import CallerAuthentication
from service.clients.assertions import ClientAssertions
from service.endpoints.token import PATH as TOKEN_ENDPOINT
from service.parts.people import People
from service.store.rate_limit import RateLimit
from service.tokens.access_token import AccessTokens
from service.tokens.active import ActiveTokens
from service.tokens.audience import Targets
from service.tokens.id_token import IdTokens
from service.tokens.id_token_hint import IdTokenHints
from service.tokens.issuer import TokenIssuer
from service.tokens.refresh_token import RefreshTokens
from service.tokens.revocation import Revocation
from service.tokens.subject import SubjectIdentifiers


class Tokens(People):
    """The parts that the endpoints for machines share."""

    @cached_property
    def access_tokens(self) -> AccessTokens:
        return AccessTokens(issuer=self.issuer, keys=self.keys, stores=self.stores)

    @cached_property
    def id_tokens(self) -> IdTokens:
        return IdTokens(
            issuer=self.issuer,
            registry=self.registry,
            keys=self.client_keys,
            identifiers=self.subject_identifiers,
        )

    @cached_property
    def id_token_hints(self) -> IdTokenHints:
        return IdTokenHints(
            issuer=self.issuer,
            keys=self.client_keys,
            clients=self.clients,
            identifiers=self.subject_identifiers,
        )

    @cached_property
    def subject_identifiers(self) -> SubjectIdentifiers:
        return SubjectIdentifiers(pairwise_salt=self.configuration.pairwise_salt)

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
            clients=self.clients,
            users=self.users,
            now=self.now,
        )

    @cached_property
    def targets(self) -> Targets:
        return Targets(self.registry)

    @cached_property
    def token_issuer(self) -> TokenIssuer:
        return TokenIssuer(
            access_tokens=self.access_tokens,
            id_tokens=self.id_tokens,
            refresh_tokens=self.refresh_tokens,
            revocation=self.revocation,
            targets=self.targets,
            stores=self.stores,
            emit=self.emit,
            now=self.now,
        )

    @cached_property
    def client_assertions(self) -> ClientAssertions:
        return ClientAssertions(
            issuer=self.issuer,
            token_endpoint=TOKEN_ENDPOINT,
            keys=self.client_keys,
            stores=self.stores,
            clock_skew=self.configuration.server.clock_skew,
        )

    @cached_property
    def client_auth(self) -> ClientAuthentication:
        return ClientAuthentication(
            methods=builtin_client_auth_methods(self.client_assertions),
            clients=self.clients,
            registry=self.registry,
            realm=self.issuer,
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
