"""Builds the parts that know keys, clients and tokens."""

from __future__ import annotations

from dataclasses import dataclass

from service.client_auth import ClientAuthentication
from service.client_auth.client_assertion import ClientAssertions
from service.clients.algorithms import ClientAlgorithms
from service.clients.directory import Clients, RegisteredClients
from service.clients.keys import ClientKeys
from service.clients.origins import RegisteredOrigins
from service.clients.published_keys import PublishedKeys
from service.clients.registration.metadata import REGISTERED_TOKEN_LIFETIME, RegistrationPolicy
from service.clients.registration.registration import ClientRegistration
from service.config.rules.registered_client import Offered
from service.endpoints.token import PATH as TOKEN_ENDPOINT
from service.keys.key_source import KeySource, encryption_algorithms, key_source
from service.keys.keyring import KeyRing
from service.keys.sealing import Seal
from service.model.catalogue import Registrable
from service.model.user import UserStore
from service.parts.shared import Shared
from service.tokens.access_token import AccessTokens
from service.tokens.active import ActiveTokens
from service.tokens.audience import Targets
from service.tokens.id_token import IdTokens
from service.tokens.id_token_hint import IdTokenHints
from service.tokens.issuer import TokenIssuer
from service.tokens.refresh_token import RefreshTokens
from service.tokens.revocation import Revocation
from service.tokens.subject import SubjectIdentifiers


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyParts:
    """The keys of the service, and those of its clients."""

    source: KeySource
    ring: KeyRing
    of_clients: ClientKeys
    algorithms: ClientAlgorithms


def build_keys(shared: Shared) -> KeyParts:
    """Build the key ring and its source; raise KeyFileError if the operator's key files are wrong."""
    registry, registration = shared.registry, shared.registration_is_on

    def longest_token() -> int:
        longest = registry.current.longest_token
        return max(longest, REGISTERED_TOKEN_LIFETIME) if registration else longest

    def encryption() -> tuple[str, ...]:
        clients = registry.current.clients.values()
        return encryption_algorithms(clients, registration=registration)

    source = key_source(
        shared.configuration.signing,
        kv=shared.kv,
        prefix=shared.configuration.store.key_prefix,
        longest_token=longest_token,
        encryption=encryption,
        now=shared.now,
        emit=shared.emit,
        timed=shared.timed,
    )
    ring = source.ring
    return KeyParts(
        source=source,
        ring=ring,
        algorithms=ClientAlgorithms(ring=ring, registry=registry, registration=registration),
        of_clients=ClientKeys(
            ring=ring,
            published=PublishedKeys(now=shared.now),
            http=shared.client_http("client_keys"),
            now=shared.now,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientParts:
    """The clients of the configuration file, and those that register themselves."""

    directory: Clients
    registered: RegisteredClients
    registrable: Registrable
    origins: RegisteredOrigins
    registration: ClientRegistration


def build_clients(shared: Shared, keys: KeyParts) -> ClientParts:
    """Build the directory of clients and their registration, even where registration is off."""
    configuration, stores = shared.configuration, shared.stores
    policy = RegistrationPolicy(
        allowed_scopes=configuration.registration.allowed_scopes,
        offered=Offered(
            catalogue=configuration.catalogue,
            algorithms=configuration.signing.algorithms,
            pairwise=configuration.pairwise_salt is not None,
            decryption=lambda: keys.ring.encryption_algorithms,
        ),
    )
    seal = Seal(configuration.signing.encryption_key)
    registered = RegisteredClients(stores=stores, policy=policy, seal=seal)
    origins = RegisteredOrigins(stores=stores, now=shared.now)
    is_on = shared.registration_is_on
    return ClientParts(
        directory=Clients(registry=shared.registry, registered=registered if is_on else None),
        registered=registered,
        registrable=policy.registrable if is_on else Registrable(),
        origins=origins,
        registration=ClientRegistration(
            policy=policy,
            stores=stores,
            origins=origins,
            seal=seal,
            http=shared.client_http("sector_identifier").guarded,
            lifetime=configuration.registration.client_lifetime,
            now=shared.now,
            emit=shared.emit,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenParts:
    """The parts that issue tokens, find them and revoke them."""

    access_tokens: AccessTokens
    id_tokens: IdTokens
    id_token_hints: IdTokenHints
    identifiers: SubjectIdentifiers
    refresh_tokens: RefreshTokens
    revocation: Revocation
    active_tokens: ActiveTokens
    issuer: TokenIssuer


def build_tokens(
    shared: Shared, keys: KeyParts, clients: ClientParts, users: UserStore
) -> TokenParts:
    """Build what the endpoints for machines share."""
    issuer, registry, stores, now = shared.issuer, shared.registry, shared.stores, shared.now
    directory, client_keys = clients.directory, keys.of_clients
    identifiers = SubjectIdentifiers(pairwise_salt=shared.configuration.pairwise_salt)
    access_tokens = AccessTokens(
        issuer=issuer, keys=keys.ring, stores=stores, targets=Targets(registry)
    )
    id_tokens = IdTokens(
        issuer=issuer, registry=registry, keys=client_keys, identifiers=identifiers
    )
    refresh_tokens = RefreshTokens(stores=stores)
    revocation = Revocation(stores=stores, now=now)
    return TokenParts(
        access_tokens=access_tokens,
        id_tokens=id_tokens,
        id_token_hints=IdTokenHints(
            issuer=issuer, keys=client_keys, clients=directory, identifiers=identifiers
        ),
        identifiers=identifiers,
        refresh_tokens=refresh_tokens,
        revocation=revocation,
        active_tokens=ActiveTokens(
            issuer=issuer,
            keys=keys.ring,
            stores=stores,
            clients=directory,
            users=users,
            now=now,
        ),
        issuer=TokenIssuer(
            access_tokens=access_tokens,
            id_tokens=id_tokens,
            refresh_tokens=refresh_tokens,
            revocation=revocation,
            stores=stores,
            emit=shared.emit,
            now=now,
        ),
    )


def build_client_auth(shared: Shared, keys: KeyParts, clients: ClientParts) -> ClientAuthentication:
    """Build the authentication of clients by all built-in methods."""
    assertions = ClientAssertions(
        issuer=shared.issuer,
        token_endpoint=TOKEN_ENDPOINT,
        keys=keys.of_clients,
        stores=shared.stores,
        clock_skew=shared.configuration.server.clock_skew,
    )
    return ClientAuthentication(
        assertions,
        clients=clients.directory,
        registry=shared.registry,
        realm=shared.issuer,
    )
