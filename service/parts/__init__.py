"""What the service is made of: every part, made once, from the parts it names."""

from __future__ import annotations

from functools import cached_property

from service.authorize import request_parameters
from service.authorize.accepted_values import AcceptedValues
from service.authorize.answer import Answering
from service.authorize.flow import AuthorizeFlow
from service.authorize.parking import Parking
from service.authorize.request_object import RequestObjects
from service.authorize.request_uri import RequestUris
from service.authorize.steps import builtin_steps
from service.grants import GrantParts, Grants
from service.logout import request as logout_request
from service.logout.back_channel import BackChannel
from service.logout.delivering import LogoutDeliveries
from service.logout.front_channel import FrontChannel
from service.logout.logout_token import LogoutTokens
from service.parts.tokens import Tokens
from service.tokens.granting import GrantServices


class Parts(Tokens):
    """Each property is a part; reading it makes it, and what it needs, the first time.

    The class stands in five files, each on top of the one before: `foundation`, `registration`,
    `people`, `tokens` and this one, so that a part only ever stands on parts below it.
    """

    def every_grant(self) -> Grants:
        """The grants below, for those parts of the foundation that speak of them."""
        return self.grants

    @cached_property
    def grants(self) -> Grants:
        services = GrantServices(
            issuer=self.issuer,
            registry=self.registry,
            users=self.users,
            active_tokens=self.active_tokens,
            emit=self.emit,
        )
        return Grants(
            GrantParts(
                services=services,
                stores=self.stores,
                sign_in=self.local_sign_in,
                refresh_tokens=self.refresh_tokens,
                revocation=self.revocation,
            )
        )

    @cached_property
    def flow(self) -> AuthorizeFlow:
        answering = Answering(
            access_tokens=self.access_tokens,
            id_tokens=self.id_tokens,
            registry=self.registry,
            targets=self.targets,
            stores=self.stores,
            emit=self.emit,
        )
        return AuthorizeFlow(
            issuer=self.issuer,
            registry=self.registry,
            clients=self.clients,
            request_objects=self.request_objects,
            hints=self.id_token_hints,
            steps=builtin_steps(),
            parking=self._parking("authorize", request_parameters.PARAMETERS),
            consents=self.consents,
            answering=answering,
            emit=self.emit,
            now=self.now,
        )

    @cached_property
    def accepted_values(self) -> AcceptedValues:
        return AcceptedValues(clients=self.clients, registry=self.registry)

    @cached_property
    def front_channel(self) -> FrontChannel:
        return FrontChannel(issuer=self.issuer, clients=self.clients)

    @cached_property
    def logout_deliveries(self) -> LogoutDeliveries:
        back_channel = BackChannel(
            queue=self.logout_queue,
            clients=self.clients,
            tokens=LogoutTokens(
                issuer=self.issuer, keys=self.client_keys, identifiers=self.subject_identifiers
            ),
            http=self.client_http("logout"),
            emit=self.emit,
            now=self.now,
        )
        attempt = back_channel.attempt
        return LogoutDeliveries(
            queue=self.logout_queue,
            attempt=attempt if self.spans is None else self.spans.delivering(attempt),
            clients=self.clients,
            wake=self.session_ended,
        )

    @cached_property
    def request_objects(self) -> RequestObjects:
        return RequestObjects(
            issuer=self.issuer,
            keys=self.client_keys,
            uris=RequestUris(self.client_http("request_object"), now=self.now),
            clock_skew=self.configuration.server.clock_skew,
            now=self.now,
        )

    @cached_property
    def parked_logouts(self) -> Parking:
        return self._parking("logout", logout_request.PARAMETERS)

    def _parking(self, purpose: str, parameters: frozenset[str]) -> Parking:
        return Parking(
            stores=self.stores,
            purpose=purpose,
            parameters=parameters,
            rate_limit=self.parking_rate_limit,
        )
