"""Decides whether a sign-in needs a second factor (`mfa.required`, `mfa_required` of a client)."""

from __future__ import annotations

from collections.abc import Collection

from service.identity.factors.methods import MFA
from service.model.client import Client
from service.model.factors import Factors
from service.model.mfa import RequiredFactor
from service.model.registry import Registry


def find_requirement(registry: Registry, client: Client | None) -> RequiredFactor:
    """Return who needs a second factor at this client, or, without one, for the own account.

    At the own account everybody with a second factor needs it: the password alone would be enough to add a
    factor there, or to remove them all.
    """
    if client is not None:
        return client.mfa_required or registry.mfa.required
    return "enrolled" if registry.mfa.required == "never" else registry.mfa.required


def lacks_second_factor(
    methods: Collection[str], factors: Factors, requirement: RequiredFactor
) -> bool:
    """Return whether a sign-in by these methods has to be completed by a second factor."""
    if MFA in methods or requirement == "never":
        return False
    return requirement == "always" or factors.is_enrolled
