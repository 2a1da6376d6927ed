"""Builds what authenticates clients."""

from __future__ import annotations

from service.clients.authentication import MethodParts
from service.clients.authentication.authentication import ClientAuthentication
from service.clients.authentication.client_assertion import ClientAssertions
from service.clients.directory import Clients
from service.clients.rules.mutual_tls import methods_without_evidence
from service.clients.workloads.assertions import WorkloadAssertions
from service.clients.workloads.keys import WorkloadKeys
from service.parts.keys import KeyParts
from service.parts.shared import Shared


def build_client_authentication(
    shared: Shared, keys: KeyParts, clients: Clients
) -> ClientAuthentication:
    """Build what authenticates clients, by the methods for which these settings leave evidence."""
    configuration = shared.configuration
    assertions = ClientAssertions(
        issuer=shared.issuer,
        base_urls=shared.base_urls,
        keys=keys.of_clients,
        stores=shared.stores,
        room=shared.room,
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
    return ClientAuthentication(methods, clients=clients, algorithms=keys.algorithms)
