"""The methods by which clients authenticate, by their names (RFC 7591 §2, `token_endpoint_auth_method`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from service.model.catalogue import Credential

if TYPE_CHECKING:
    from service.clients.authentication.client_assertion import ClientAssertions
    from service.clients.published_keys import PublishedKeys
    from service.clients.shared_secrets import SharedSecrets
    from service.clients.workloads.assertions import WorkloadAssertions
    from service.model.credentials import ClientAuthMethod
    from service.model.registry import LiveRegistry


class MethodParts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the service that methods use, and which methods to leave out."""

    assertions: ClientAssertions
    secrets: SharedSecrets
    registry: LiveRegistry
    published: PublishedKeys
    workloads: WorkloadAssertions
    without: frozenset[str]
    """The names of those that the settings of the server leave without any evidence."""


class Method(msgspec.Struct, frozen=True):
    """A method, whose class is imported where it is made: a command that reads the names does not wait for it."""

    implementation: str
    """Its module and class; it is made of the parts that its fields name."""
    credential: Credential
    """The credential that a client has to register for it."""

    def make(self, parts: MethodParts) -> ClientAuthMethod:
        module, _, name = self.implementation.partition(":")
        kind: Any = getattr(import_module(module), name)
        method: ClientAuthMethod = kind(**{of: getattr(parts, of) for of in kind.__struct_fields__})
        return method


BASIC, WORKLOAD = "client_secret_basic", "workload"

CLIENT_AUTH_METHODS: dict[str, Method] = {
    BASIC: Method(
        "service.clients.authentication.client_secret:ClientSecretBasic", Credential.SECRET
    ),
    "client_secret_post": Method(
        "service.clients.authentication.client_secret:ClientSecretPost", Credential.SECRET
    ),
    "client_secret_jwt": Method(
        "service.clients.authentication.client_assertion:ClientSecretJwt", Credential.SECRET_VALUE
    ),
    "private_key_jwt": Method(
        "service.clients.authentication.client_assertion:PrivateKeyJwt", Credential.KEYS
    ),
    "none": Method(
        "service.clients.authentication.client_secret:NoAuthentication", Credential.NOTHING
    ),
    "tls_client_auth": Method(
        "service.clients.authentication.tls_client_auth:TlsClientAuth",
        Credential.CERTIFICATE_SUBJECT,
    ),
    "self_signed_tls_client_auth": Method(
        "service.clients.authentication.self_signed_tls_client_auth:SelfSignedTlsClientAuth",
        Credential.CERTIFICATE,
    ),
    WORKLOAD: Method("service.clients.workloads.assertions:WorkloadMethod", Credential.RULE),
}
"""By name. To add one: a file in this folder, and a line here."""
