"""Judges the word of an identity provider that a user's address or phone number is verified (OIDC Core §5.1, §5.7)."""

from __future__ import annotations

from collections.abc import Mapping

from service.model.identity_provider import IdentityProvider
from service.model.registry import Registry
from service.protocol.typed_text import find_domain

VERIFIABLE = (("email", "email_verified"), ("phone_number", "phone_number_verified"))
"""Claims about how to reach a user, each with the one that says whether that is verified."""


def with_trusted_verification(
    claims: Mapping[str, object], provider: IdentityProvider, registry: Registry
) -> Mapping[str, object]:
    """Return the claims; what the provider may not vouch for is not verified."""
    refused = {
        verified: False
        for address, verified in VERIFIABLE
        if (address in claims or verified in claims)
        and not (provider.trust_email and _vouches(provider, address, claims, registry))
    }
    return {**claims, **refused} if refused else claims


def _vouches(
    provider: IdentityProvider, address: str, claims: Mapping[str, object], registry: Registry
) -> bool:
    return address != "email" or vouches_for(provider, str(claims.get(address)), registry)


def vouches_for(provider: IdentityProvider, email: str, registry: Registry) -> bool:
    """Return whether a trusted provider may speak about addresses of this domain: its own domain, or one that no other provider has."""
    domain = find_domain(email)
    if domain is None or provider.domains:
        return domain in provider.domains
    return all(domain not in other.domains for other in registry.identity_providers.values())
