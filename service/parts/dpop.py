"""Builds what verifies DPoP proofs (RFC 9449)."""

from __future__ import annotations

from service.clients.proofs import DpopProofs, Nonces
from service.keys.keyring import KeyRing
from service.parts.shared import Shared


def build_dpop(shared: Shared, ring: KeyRing) -> DpopProofs:
    """Build what verifies proofs that clients hold the keys that their tokens are bound to."""
    settings = shared.configuration.dpop
    always = settings.nonce == "always"
    return DpopProofs(
        base_urls=shared.base_urls,
        lifetime=settings.proof_lifetime,
        clock_skew=shared.configuration.server.clock_skew,
        nonces=Nonces(keys=ring, lifetime=settings.nonce_lifetime, always=always),
        stores=shared.stores,
    )
