"""The methods by which clients authenticate, by their names (RFC 7591 §2, `token_endpoint_auth_method`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from service.model.catalogue import Credential

if TYPE_CHECKING:
    from service.clients.authentication.client_assertion import ClientAssertions
    from service.clients.published_keys import PublishedKeys
    from service.clients.workloads.assertions import WorkloadAssertions
    from service.model.credentials import ClientAuthMethod
    from service.model.registry import LiveRegistry


class MethodParts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the service that methods use, and which methods to leave out."""

    assertions: ClientAssertions
    registry: LiveRegistry
    published: PublishedKeys
    workloads: WorkloadAssertions
    without: frozenset[str]
    """The names of those that the settings of the server leave without any evidence."""


_Make = Callable[[MethodParts], "ClientAuthMethod"]


class Method(NamedTuple):
    make: _Make
    credential: Credential
    """What a client has to register for it."""


CLIENT_AUTH_METHODS: dict[str, Method] = {}
"""By name. To add one: a file in this folder, and a function here, which imports it: who only reads the names, such as a
command, does not wait for the methods."""

BASIC, WORKLOAD = "client_secret_basic", "workload"


def client_auth_method(name: str, credential: Credential) -> Callable[[_Make], _Make]:
    """Add the function that makes the method of this name."""

    def add(make: _Make) -> _Make:
        CLIENT_AUTH_METHODS[name] = Method(make, credential)
        return make

    return add


@client_auth_method(BASIC, Credential.SECRET)
def _client_secret_basic(_: MethodParts) -> ClientAuthMethod:
    from service.clients.authentication.client_secret import ClientSecretBasic

    return ClientSecretBasic()


@client_auth_method("client_secret_post", Credential.SECRET)
def _client_secret_post(_: MethodParts) -> ClientAuthMethod:
    from service.clients.authentication.client_secret import ClientSecretPost

    return ClientSecretPost()


@client_auth_method("client_secret_jwt", Credential.SECRET_VALUE)
def _client_secret_jwt(parts: MethodParts) -> ClientAuthMethod:
    from service.clients.authentication.client_assertion import ClientSecretJwt

    return ClientSecretJwt(parts.assertions)


@client_auth_method("private_key_jwt", Credential.KEYS)
def _private_key_jwt(parts: MethodParts) -> ClientAuthMethod:
    from service.clients.authentication.client_assertion import PrivateKeyJwt

    return PrivateKeyJwt(parts.assertions)


@client_auth_method("none", Credential.NOTHING)
def _none(_: MethodParts) -> ClientAuthMethod:
    from service.clients.authentication.client_secret import NoAuthentication

    return NoAuthentication()


@client_auth_method("tls_client_auth", Credential.CERTIFICATE_SUBJECT)
def _tls_client_auth(parts: MethodParts) -> ClientAuthMethod:
    from service.clients.authentication.tls_client_auth import TlsClientAuth

    return TlsClientAuth(parts.registry)


@client_auth_method("self_signed_tls_client_auth", Credential.CERTIFICATE)
def _self_signed_tls_client_auth(parts: MethodParts) -> ClientAuthMethod:
    from service.clients.authentication.self_signed_tls_client_auth import SelfSignedTlsClientAuth

    return SelfSignedTlsClientAuth(parts.published)


@client_auth_method(WORKLOAD, Credential.RULE)
def _workload(parts: MethodParts) -> ClientAuthMethod:
    from service.clients.workloads.assertions import WorkloadMethod

    return WorkloadMethod(parts.workloads)
