"""The endpoints for gateways before APIs, and for the clients that these send away."""

from __future__ import annotations

from service.endpoints.check import CheckEndpoint
from service.endpoints.protected_resource import ProtectedResourceEndpoint
from service.http.endpoint import Endpoint
from service.http.key_proofs import TokenGuard
from service.parts.live import build_transaction_tokens
from service.parts.whole import Parts
from service.tokens.forwarded import ForwardedTokens


def gateway_endpoints(parts: Parts, guard: TokenGuard) -> tuple[Endpoint, ...]:
    """Return the check of a request, and the metadata of the APIs."""
    shared = parts.shared
    return (
        CheckEndpoint(
            client_auth=parts.clients.authentication,
            guard=guard,
            forwarded=ForwardedTokens(keys=parts.keys.ring, registry=shared.registry),
            transaction_tokens=build_transaction_tokens(parts),
            registry=shared.registry,
            emit=shared.emit,
        ),
        ProtectedResourceEndpoint(
            issuer=shared.issuer,
            registry=shared.registry,
            certificates=shared.configuration.server.takes_certificates,
        ),
    )
