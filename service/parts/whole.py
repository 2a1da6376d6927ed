"""All parts of the service; a part that nobody reads is neither imported nor built."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.authorize.checks import ArrivingRequests
    from service.authorize.flow import AuthorizeFlow
    from service.authorize.parking import Parking
    from service.clients.proofs import DpopProofs
    from service.logout.request import UserLogout
    from service.model.session import LogoutDelivery
    from service.outbox.delivering import Deliveries
    from service.parts.ciba import CibaParts
    from service.parts.clients import ClientParts
    from service.parts.factors import FactorParts
    from service.parts.keys import KeyParts
    from service.parts.shared import Shared
    from service.parts.sign_in import SignInParts
    from service.parts.tokens import TokenParts
    from service.parts.users import UserRecords


class Parts:
    """All parts that endpoints are built from, in groups, each built from groups above it when it is first read.

    `serve` reads all of them at its start; a command those that it needs. A group imports what it consists of, and is
    imported here when it is built. It raises CannotServe or KeyFileError if a class or file of the operator is wrong.
    """

    def __init__(self, shared: Shared) -> None:
        self.shared = shared

    @cached_property
    def keys(self) -> KeyParts:
        from service.parts.keys import KeyParts

        return KeyParts(self.shared)

    @cached_property
    def clients(self) -> ClientParts:
        from service.parts.clients import ClientParts

        return ClientParts(self.shared, self.keys)

    @cached_property
    def records(self) -> UserRecords:
        from service.parts.users import UserRecords

        return UserRecords(self.shared)

    @cached_property
    def sign_in(self) -> SignInParts:
        from service.parts.sign_in import SignInParts

        return SignInParts(self.shared, self.keys)

    @cached_property
    def factors(self) -> FactorParts:
        from service.parts.factors import FactorParts

        return FactorParts(self.shared, self.sign_in.users)

    @cached_property
    def tokens(self) -> TokenParts:
        from service.parts.tokens import TokenParts

        return TokenParts(self.shared, self.keys, self.clients, self.sign_in.users)

    @cached_property
    def dpop(self) -> DpopProofs:
        from service.parts.dpop import build_dpop

        return build_dpop(self.shared, self.keys.ring)

    @cached_property
    def arriving(self) -> ArrivingRequests:
        from service.parts.requests import build_arriving

        return build_arriving(self.shared, self.keys, self.clients, self.tokens)

    @cached_property
    def flow(self) -> AuthorizeFlow:
        from service.parts.flow import build_flow

        return build_flow(self)

    @cached_property
    def user_logout(self) -> UserLogout:
        from service.logout.request import UserLogout

        clients, sessions = self.clients.directory, self.records.sessions
        return UserLogout(issuer=self.shared.issuer, clients=clients, sessions=sessions)

    @cached_property
    def parked_logouts(self) -> Parking:
        from service.logout.request import PARAMETERS
        from service.parts.requests import build_parking

        return build_parking(self.shared, "logout", PARAMETERS)

    @cached_property
    def logout_deliveries(self) -> Deliveries[LogoutDelivery]:
        from service.parts.outbox import build_logout_deliveries

        return build_logout_deliveries(self)

    @cached_property
    def ciba(self) -> CibaParts:
        from service.parts.ciba import CibaParts

        return CibaParts(self)
