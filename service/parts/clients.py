"""Builds the parts that know clients."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import cached_property, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from service.clients.directory import Clients, RegisteredClients
from service.clients.origins import RegisteredOrigins
from service.clients.registration.rules import Offered
from service.clients.rules.mutual_tls import certificates_reach_the_service
from service.config.configuration import Configuration
from service.model.catalogue import Catalogue, Registrable
from service.model.polling import CIBA
from service.parts.keys import KeyParts
from service.parts.shared import Shared
from service.store.room import RegistrationRoom

if TYPE_CHECKING:
    from service.clients.authentication.authentication import ClientAuthentication
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
            catalogue=_find_catalogue(configuration),
            algorithms=configuration.signing.algorithms,
            pairwise=configuration.pairwise_salt is not None,
            details_types=details_types,
            decryption=lambda: keys.ring.encryption_algorithms,
            pushed_requests=configuration.pushed_authorization_requests,
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
        self._shared, self._keys = shared, keys

    @cached_property
    def authentication(self) -> ClientAuthentication:
        """Authenticates clients."""
        from service.parts.client_auth import build_client_authentication  # noqa: PLC0415 - which few commands ask for

        return build_client_authentication(self._shared, self._keys, self.directory)


def _find_catalogue(configuration: Configuration) -> Catalogue:
    """Return what is supported; CIBA is registrable with an initial access token only.

    Its clients learn which users there are, and take the places of other clients' requests (docs/ciba.md).
    """
    catalogue = configuration.catalogue
    if configuration.registration.initial_access_token_sha256:
        return catalogue
    registrable = catalogue.registrable_grant_types - {CIBA}
    return replace(catalogue, registrable_grant_types=registrable)


def build_policy(allowed_scopes: frozenset[str], offered: Offered) -> RegistrationPolicy:
    """Build what judges the metadata of clients, by which the schema of config.yaml and its rules are imported."""
    from service.clients.registration.metadata import RegistrationPolicy  # noqa: PLC0415 - 15 MiB, where clients describe themselves
    from service.start.rules import client_rules  # noqa: PLC0415 - likewise

    return RegistrationPolicy(
        allowed_scopes=allowed_scopes, offered=offered, rules=client_rules(offered.catalogue)
    )


def build_registered(shared: Shared, offered: Offered) -> RegisteredClients:
    """Build what reads the clients that have registered themselves."""
    return RegisteredClients(
        stores=shared.stores,
        policy=build_policy(shared.configuration.registration.allowed_scopes, offered),
        seal=shared.seal,
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
        lifetime=shared.configuration.registration.lifetime,
        room=_build_registration_room(shared),
        emit=shared.emit,
    )


def _build_registration_room(shared: Shared) -> RegistrationRoom | None:
    """Build what bounds registrations where anyone may make them."""
    settings = shared.configuration.registration
    if not settings.is_open or settings.lifetime is None:
        return None
    return RegistrationRoom(
        kv=shared.kv,
        prefix=shared.prefix,
        limits=shared.configuration.limits,
        memory=shared.store_memory,
        lifetime=settings.lifetime,
    )


def build_documents(
    shared: Shared, offered: Offered, origins: RegisteredOrigins
) -> ClientDocuments:
    """Build what finds clients by their metadata documents."""
    from service.clients import documents  # noqa: PLC0415 - where clients may be found by them

    settings = shared.configuration.client_id_metadata
    return documents.ClientDocuments(
        http=shared.document_http("client_document", max_body=documents.MAX_BYTES),
        policy=documents.DocumentPolicy(
            registration=build_policy(settings.allowed_scopes, offered),
            allowed_hosts=settings.allowed_hosts,
        ),
        origins=origins,
        per_network=shared.rate_limit("client_document", documents.PER_NETWORK),
        per_host=shared.rate_limit("client_document_host", documents.PER_HOST),
        lifetime=settings.cache,
        emit=shared.emit,
    )
