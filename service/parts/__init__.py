"""Builds the parts of the service in groups, each from the groups before it; see `build_parts`."""

from __future__ import annotations

from dataclasses import dataclass

from service.authorize.accepted_values import AcceptedValues
from service.authorize.flow import AuthorizeFlow
from service.client_auth import ClientAuthentication
from service.parts.clients import (
    ClientParts,
    KeyParts,
    TokenParts,
    build_client_auth,
    build_clients,
    build_keys,
    build_tokens,
)
from service.parts.people import (
    LogoutParts,
    SignInParts,
    UserRecords,
    build_flow,
    build_logout,
    build_records,
    build_sign_in,
)
from service.parts.shared import Shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """All that endpoints are built from."""

    shared: Shared
    keys: KeyParts
    clients: ClientParts
    client_auth: ClientAuthentication
    records: UserRecords
    sign_in: SignInParts
    tokens: TokenParts
    flow: AuthorizeFlow
    logout: LogoutParts

    @property
    def accepted_values(self) -> AcceptedValues:
        return AcceptedValues(clients=self.clients.directory, registry=self.shared.registry)


def build_parts(shared: Shared) -> Parts:
    """Build all groups; raise CannotServe or KeyFileError if a file or class of the operator is wrong."""
    keys = build_keys(shared)
    clients = build_clients(shared, keys)
    records = build_records(shared)
    sign_in = build_sign_in(shared)
    tokens = build_tokens(shared, keys, clients, sign_in.users)
    return Parts(
        shared=shared,
        keys=keys,
        clients=clients,
        client_auth=build_client_auth(shared, keys, clients),
        records=records,
        sign_in=sign_in,
        tokens=tokens,
        flow=build_flow(shared, keys, clients, tokens, records),
        logout=build_logout(shared, keys, clients, tokens, records),
    )
