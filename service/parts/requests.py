"""Builds what opens, checks and parks requests, before it is known who the user is."""

from __future__ import annotations

from service.authorize.checks import ArrivingRequests, RequestReader
from service.authorize.parameters import KEPT
from service.authorize.parking import Parking
from service.authorize.request_object import RequestObjects
from service.authorize.request_uri import RequestUris
from service.parts.clients import ClientParts
from service.parts.keys import KeyParts
from service.parts.shared import Shared
from service.parts.tokens import TokenParts


def build_arriving(
    shared: Shared, keys: KeyParts, clients: ClientParts, tokens: TokenParts
) -> ArrivingRequests:
    """Build what opens authorization requests."""
    request_objects = RequestObjects(
        issuer=shared.issuer,
        keys=keys.of_clients,
        algorithms=keys.algorithms,
        uris=RequestUris(shared.client_http("request_object")),
        clock_skew=shared.configuration.server.clock_skew,
        signature_required=shared.configuration.require_signed_request_object,
    )
    return ArrivingRequests(
        reader=RequestReader(
            issuer=shared.issuer,
            clients=clients.directory,
            request_objects=request_objects,
            id_tokens=tokens.id_tokens,
            client_keys=keys.of_clients,
            push_required=shared.configuration.require_pushed_authorization_requests,
        ),
        pushed=build_parking(shared, "pushed", KEPT),
    )


def build_parking(shared: Shared, purpose: str, parameters: frozenset[str]) -> Parking:
    """Build what keeps requests while users sign in, within the limit of a network."""
    return Parking(
        stores=shared.stores,
        purpose=purpose,
        parameters=parameters,
        room=shared.room,
    )
