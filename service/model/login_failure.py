"""The reasons why a sign-in by password fails, as the audit log names them."""

from __future__ import annotations

from typing import Literal

LoginFailure = Literal[
    "malformed",
    "unknown",
    "wrong_password",
    "disabled",
    "locked",
    "other_tenant",
    "account_expired",
    "locked_there",
    "other_workstation",
    "outside_hours",
    "password_expired",
]
"""`locked` is the throttle here, and `locked_there` the directory; `password_expired` comes only after the right password."""
