"""The section `mfa` of config.yaml: who needs a second factor, and when one may be enrolled (NIST SP 800-63B §4.2)."""

from __future__ import annotations

from typing import Literal

import msgspec

from service.model import types

RequiredFactor = Literal["never", "enrolled", "always"]
"""Who has to give a second factor: nobody, users who have enrolled one, or everybody."""


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
