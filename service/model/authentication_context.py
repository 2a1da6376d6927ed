"""Authentication contexts: what users have to have done (OIDC Core §2, RFC 9470)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Annotated

import msgspec

from service.model import types

IDP, TENANT = "idp:", "tenant:"
"""Prefixes of acr_values that name no authentication context."""

OWN_METHODS = frozenset({"pwd", "otp", "swk", "hwk", "user", "mfa", "external"})
"""The `amr` of sign-ins here, and of sign-ins at an identity provider whose own does not count."""


class AuthenticationContext(msgspec.Struct, frozen=True, kw_only=True):
    """An authentication context (acr) and the authentication methods that meet it."""

    acr: Annotated[str, msgspec.Meta(pattern=r"^[^\s]{1,200}$")]
    """The value in acr_values and in the `acr` claim."""
    amr: frozenset[types.Text] = frozenset()
    """The authentication methods (RFC 8176) that a user must have used, all of them. Give this or any_of."""
    any_of: tuple[Annotated[frozenset[types.Text], msgspec.Meta(min_length=1)], ...] = ()
    """Several such lists, such as [[pwd, otp], [swk, user]]: one of them is enough, if all of its methods were used."""

    def is_met_by(self, amr: AbstractSet[str]) -> bool:
        """Return whether these methods are enough."""
        return any(way <= amr for way in (self.amr, *self.any_of) if way)
