"""The parts of the service that explanations read, each of them when it is needed."""

from __future__ import annotations

from typing import Protocol

from service.authorize.checks import ArrivingRequests
from service.clients.authentication.authentication import ClientAuthentication
from service.clients.directory import Clients
from service.identity.access import Authorizations
from service.identity.assertions import ForeignAssertions
from service.identity.sessions import Sessions
from service.identity.users import Subjects
from service.keys.keyring import KeyRing
from service.model.registry import LiveRegistry
from service.protocol.path_aliases import PathAliases
from service.store.stores import Stores
from service.tokens.active import ActiveTokens

Rows = list[tuple[str, str]]
"""The lines of an explanation, each with a name and a value."""


class CannotExplain(ValueError):
    """A text is nothing that can be explained; the message says what it should be, and does not repeat it."""


class SharedParts(Protocol):
    """The parts that all features share."""

    issuer: str
    stores: Stores

    @property
    def registry(self) -> LiveRegistry: ...
    @property
    def aliases(self) -> PathAliases: ...
    @property
    def authorizations(self) -> Authorizations: ...
    @property
    def sessions(self) -> Sessions: ...


class Parts(Protocol):
    """The parts of the features."""

    @property
    def shared(self) -> SharedParts: ...
    @property
    def ring(self) -> KeyRing: ...
    @property
    def clients(self) -> Clients: ...
    @property
    def subjects(self) -> Subjects: ...
    @property
    def active_tokens(self) -> ActiveTokens: ...
    @property
    def assertions(self) -> ForeignAssertions: ...
    @property
    def arriving(self) -> ArrivingRequests: ...
    @property
    def client_authentication(self) -> ClientAuthentication: ...
