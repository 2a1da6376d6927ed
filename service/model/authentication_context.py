"""Authentication contexts (OIDC Core §2, RFC 9470), and the section `mfa` of config.yaml (NIST SP 800-63B §4.2)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Annotated, Literal

import msgspec

from service.model import types

IDP, TENANT = "idp:", "tenant:"
"""Prefixes of acr_values that name no authentication context."""


def names_context(acr: str) -> bool:
    """Return whether a value of acr_values names an authentication context, and not a provider or a tenant."""
    return not acr.startswith((IDP, TENANT))


OWN_METHODS = frozenset({"pwd", "otp", "swk", "hwk", "user", "mfa", "external"})
"""The `amr` of sign-ins here, and of sign-ins at an identity provider whose own does not count."""


RequiredFactor = Literal["never", "enrolled", "always"]
"""Who has to give a second factor: nobody, users who have enrolled one, or everybody."""


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
        return self.amr <= amr if self.amr else any(way <= amr for way in self.any_of)


class Webauthn(msgspec.Struct, frozen=True, kw_only=True):
    """Passkeys (WebAuthn)."""

    rp_id: types.Text | None = None
    """The domain that passkeys belong to. null: the host of the issuer. A parent domain of it, such as example.com for
    login.example.com, lets other services of that domain use the same passkeys. A change takes effect at a restart, and all passkeys are lost."""


class Mfa(msgspec.Struct, frozen=True, kw_only=True):
    """A second factor besides the password: a code of an app (TOTP), a passkey, or a recovery code."""

    required: RequiredFactor = "enrolled"
    """Who needs a second factor to sign in at a client. enrolled: users who have enrolled one; always: everybody; never:
    nobody. A client may say otherwise by mfa_required. For the own account, never counts as enrolled."""
    enrolment: Literal["account", "at_login"] = "account"
    """Where a second factor is enrolled. account: on the page /account/security only. at_login: also while signing in, for
    users who have none at all and need one."""
    webauthn: Webauthn = Webauthn()
    """The domain of passkeys."""
