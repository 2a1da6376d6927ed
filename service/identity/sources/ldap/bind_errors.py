"""Reads why a directory refuses a bind, where it says more than that name or password is wrong.

Active Directory says it in the text of the error, as `data 532` (MS-ERREF §2.2), others by a control
(draft-behera-ldap-password-policy-10 §6.2). `password_expired` comes only after the right password.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, cast

from service.model.user import LoginFailure

_controls: Any = import_module("ldap.controls")

_DATA = re.compile(r"\bdata ([0-9a-f]{3})\b")
_BY_DATA: Mapping[str, LoginFailure] = {
    "530": "outside_hours",
    "531": "other_workstation",
    "532": "password_expired",
    "533": "disabled",
    "701": "account_expired",
    "773": "password_expired",  # it has to be changed at the first sign-in
    "775": "locked_there",
}
_BY_CONTROL: Mapping[int, LoginFailure] = {
    0: "password_expired",
    1: "locked_there",
    2: "password_expired",  # it has to be changed after an administrator has set it
}


def find_reason(refused: Any) -> LoginFailure | None:
    """Return the reason in an LDAPError; None if it has none."""
    said = cast("Mapping[str, Any]", refused.args[0] if refused.args else {})
    data = _DATA.search(str(said.get("info", "")))
    if data is not None:
        return _BY_DATA.get(data[1])
    return reason_of(_controls.DecodeControlTuples(said.get("ctrls") or []))


def reason_of(controls: Iterable[object]) -> LoginFailure | None:
    """Return the reason in the controls of an answer; None if they have none."""
    for control in controls:
        error = getattr(control, "error", None)
        if error is not None:
            return _BY_CONTROL.get(int(error), "wrong_password")
    return None
