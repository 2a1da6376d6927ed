"""Builds the parts that know keys."""

from __future__ import annotations

from service.clients.keys import ClientAlgorithms, ClientKeys
from service.clients.published_keys import PublishedKeys
from service.clock import clock
from service.keys.key_source import KeySource, build_key_source, encryption_algorithms
from service.model.client_entry import ClientEntry
from service.parts.shared import Shared

REGISTERED_TOKEN_LIFETIME = ClientEntry(client_id="dc_").access_token_lifetime
"""Seconds; no registered client's JWT is valid for longer."""


class KeyParts:
    """The keys of the service, and those of its clients."""

    def __init__(self, shared: Shared) -> None:
        """Raise KeyFileError if the operator's key files are wrong."""
        self.source = open_key_source(shared)
        self.ring = self.source.ring
        self.algorithms = ClientAlgorithms(
            ring=self.ring, registry=shared.registry, registration=shared.registration_is_on
        )
        self.of_clients = ClientKeys(
            ring=self.ring, published=PublishedKeys(shared.client_http("client_keys"))
        )


def open_key_source(shared: Shared) -> KeySource:
    """Return the service's own keys, wherever they are kept; raise KeyFileError if the operator's key files are wrong."""
    registry, registration = shared.registry, shared.registration_is_on
    has_strangers = registration or shared.documents_are_on

    def longest_token() -> int:
        longest = registry.current.longest_token
        return max(longest, REGISTERED_TOKEN_LIFETIME) if has_strangers else longest

    return build_key_source(
        shared.configuration.signing,
        kv=shared.kv,
        prefix=shared.prefix,
        seal=shared.seal,
        longest_token=longest_token,
        encryption=lambda: encryption_algorithms(
            registry.current.clients.values(),
            configured=shared.configuration.signing.encryption_algorithms,
            registration=registration,
        ),
        now=clock,
        emit=shared.emit,
        timed=shared.timed,
    )
