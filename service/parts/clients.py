"""Builds the parts that know clients and tokens."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING

from service.client_auth import MethodParts
from service.client_auth.authentication import ClientAuthentication
from service.client_auth.client_assertion import ClientAssertions
from service.client_auth.workload import WorkloadAssertions
from service.clients.directory import Clients, RegisteredClients
from service.clients.origins import RegisteredOrigins
from service.clients.workload_keys import WorkloadKeys
from service.config.rules.mutual_tls import (
    certificates_reach_the_service,
    methods_without_evidence,
)
from service.config.rules.registered_client import Offered
from service.keys.keyring import KeyRing
from service.keys.sealing import Seal
from service.model.catalogue import Registrable
from service.model.user import TokenUsers
from service.parts.keys import KeyParts
from service.parts.shared import Shared
from service.proofs.dpop import DpopProofs
from service.proofs.nonces import Nonces
from service.protocol.paths import TOKEN as TOKEN_ENDPOINT
from service.tokens.access_token import AccessTokens
from service.tokens.active import ActiveTokens
from service.tokens.exchanged import ExchangedTokens
from service.tokens.id_token import IdTokens
from service.tokens.issuer import TokenIssuer
from service.tokens.liveness import Revocation
from service.tokens.polling import Polling
from service.tokens.scope import Targets
from service.tokens.subject import SubjectIdentifiers

if TYPE_CHECKING:
    from service.clients.documents import ClientDocuments
    from service.clients.registration.metadata import RegistrationPolicy
    from service.clients.registration.registration import ClientRegistration


class ClientParts:
    """The clients of the configuration file, and those that register themselves where they may."""

    def __init__(self, shared: Shared, keys: KeyParts) -> None:
        configuration, stores = shared.configuration, shared.stores

        def details_types() -> AbstractSet[str]:
            return shared.registry.current.authorization_details_types.keys()

        offered = Offered(
            catalogue=configuration.catalogue,
            algorithms=configuration.signing.algorithms,
            pairwise=configuration.pairwise_salt is not None,
            details_types=details_types,
            decryption=lambda: keys.ring.encryption_algorithms,
            certificates=partial(certificates_reach_the_service, settings=configuration),
        )
        self.origins = RegisteredOrigins(stores=stores)
        self.registrable, self.registered, documents = Registrable(), None, None
        if shared.registration_is_on:
            self.registered = build_registered(shared, offered)
            self.registrable |= self.registered.policy.registrable
        if shared.documents_are_on:
            documents = build_documents(shared, offered, self.origins)
            self.registrable |= documents.policy.registrable
        self.directory = Clients(
            registry=shared.registry,
            registered=self.registered,
            documents=documents,
        )
        self.registration = (
            None
            if self.registered is None
            else build_registration(shared, self.registered, self.origins)
        )
        self.authentication = build_client_authentication(shared, keys, self.directory)


def build_policy(allowed_scopes: frozenset[str], offered: Offered) -> RegistrationPolicy:
    """Build what judges the metadata of clients, by which the schema of config.yaml and its rules are imported."""
    from service.clients.registration.metadata import RegistrationPolicy  # noqa: PLC0415 - 15 MiB, where clients describe themselves

    return RegistrationPolicy(allowed_scopes=allowed_scopes, offered=offered)


def build_registered(shared: Shared, offered: Offered) -> RegisteredClients:
    """Build what reads the clients that have registered themselves."""
    return RegisteredClients(
        stores=shared.stores,
        policy=build_policy(shared.configuration.registration.allowed_scopes, offered),
        seal=Seal(shared.configuration.signing.encryption_key),
    )


def build_registration(
    shared: Shared, registered: RegisteredClients, origins: RegisteredOrigins
) -> ClientRegistration:
    """Build what registers clients."""
    from service.clients.registration.registration import ClientRegistration  # noqa: PLC0415 - where clients may register

    return ClientRegistration(
        registered=registered,
        stores=shared.stores,
        origins=origins,
        http=shared.client_http("sector_identifier").guarded,
        lifetime=shared.configuration.registration.client_lifetime,
        emit=shared.emit,
    )


def build_documents(
    shared: Shared, offered: Offered, origins: RegisteredOrigins
) -> ClientDocuments:
    """Build what finds clients by their metadata documents."""
    from service.clients import documents  # noqa: PLC0415 - where clients may be found by them
    from service.clients.registration.document import DocumentPolicy  # noqa: PLC0415 - likewise

    settings = shared.configuration.client_id_metadata
    return documents.ClientDocuments(
        http=shared.document_http("client_document", max_body=documents.MAX_BYTES),
        policy=DocumentPolicy(
            registration=build_policy(settings.allowed_scopes, offered),
            allowed_hosts=settings.allowed_hosts,
        ),
        origins=origins,
        per_network=shared.rate_limit("client_document", documents.PER_NETWORK),
        per_host=shared.rate_limit("client_document_host", documents.PER_HOST),
        lifetime=settings.cache,
        emit=shared.emit,
    )


def build_client_authentication(
    shared: Shared, keys: KeyParts, clients: Clients
) -> ClientAuthentication:
    """Build what authenticates clients, by the methods for which these settings leave evidence."""
    configuration = shared.configuration
    assertions = ClientAssertions(
        issuer=shared.issuer,
        token_endpoint=TOKEN_ENDPOINT,
        keys=keys.of_clients,
        stores=shared.stores,
        clock_skew=configuration.server.clock_skew,
    )
    methods = MethodParts(
        assertions=assertions,
        registry=shared.registry,
        published=keys.of_clients.published,
        workloads=WorkloadAssertions(
            issuer=shared.issuer,
            registry=shared.registry,
            keys=WorkloadKeys(shared.http_of_workloads),
            clock_skew=configuration.server.clock_skew,
        ),
        without=methods_without_evidence(configuration),
    )
    return ClientAuthentication(methods, clients=clients)


class TokenParts:
    """The parts that issue tokens, find them and revoke them."""

    def __init__(
        self, shared: Shared, keys: KeyParts, clients: ClientParts, users: TokenUsers
    ) -> None:
        issuer, stores = shared.issuer, shared.stores
        directory, client_keys = clients.directory, keys.of_clients
        self.identifiers = SubjectIdentifiers(pairwise_salt=shared.configuration.pairwise_salt)
        self.access_tokens = AccessTokens(
            issuer=issuer, keys=keys.ring, stores=stores, targets=Targets(shared.registry)
        )
        self.id_tokens = IdTokens(
            issuer=issuer, keys=client_keys, clients=directory, identifiers=self.identifiers
        )
        self.dpop = build_dpop(shared, keys.ring)
        self.revocation = Revocation(stores=stores, emit=shared.emit)
        self.polling = Polling(
            registry=shared.registry, revocation=self.revocation, emit=shared.emit
        )
        self.active_tokens = ActiveTokens(
            issuer=issuer, keys=keys.ring, stores=stores, clients=directory, users=users
        )
        self.issuer = TokenIssuer(
            access_tokens=self.access_tokens,
            id_tokens=self.id_tokens,
            exchanged=ExchangedTokens(
                id_tokens=self.id_tokens,
                revocation=self.revocation,
                targets=self.access_tokens.targets,
                emit=shared.emit,
            ),
            revocation=self.revocation,
            expiration_members=shared.configuration.token_expiration_members,
            emit=shared.emit,
        )


def build_dpop(shared: Shared, ring: KeyRing) -> DpopProofs:
    """Build what verifies proofs that clients hold the keys that their tokens are bound to."""
    settings, alias = shared.configuration.dpop, shared.configuration.server.mtls_base_url
    always = settings.nonce == "always"
    return DpopProofs(
        base_urls=tuple(url.rstrip("/") for url in (shared.issuer, alias) if url is not None),
        lifetime=settings.proof_lifetime,
        clock_skew=shared.configuration.server.clock_skew,
        nonces=Nonces(keys=ring, lifetime=settings.nonce_lifetime, always=always),
        stores=shared.stores,
    )
