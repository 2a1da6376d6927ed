"""Reports the settings of an export that are not taken, so that none is lost without a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec

from service.takeover.node import Node
from service.takeover.report import Report

_UNSET = frozenset({"none", "", "false", "0", "-1", "[]", "{}"})
"""Values by which Keycloak says that nothing is set, as texts in lower case."""
_NOTHING: Mapping[str, str | None] = {}
_UNKNOWN = "a setting that is not known here"
_LOOK = "nothing to do, unless an application or an extension of Keycloak reads it"


class Notice(msgspec.Struct, frozen=True):
    """A row of the report about a setting; without an advice it is one of the changes."""

    reason: str
    what_to_do: str = ""
    usual: tuple[str, ...] = ()
    """The values of every realm, in lower case, of which there is nothing to say."""


BY_UI = Notice("the look and the texts of the pages are set by ui (docs/pages.md)")
THEME = Notice(BY_UI.reason, usual=("keycloak", "keycloak.v2", "keycloak.v3", "base"))
UMA = Notice("authorization services (UMA)", "let the API decide by roles or scope")
POLLING = Notice("devices may poll each 5 seconds here", usual=("5",))
REVOKED = Notice(
    "tokens from before this time are revoked there, and count here until they expire",
    "switch when they have expired, or take the keys of before out of signing.verify_only",
)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of one kind of object."""

    read: frozenset[str]
    """Those that other code of the importer takes or reports."""
    idle: frozenset[str] = frozenset()
    """Those that no application and no user notices."""
    idle_prefixes: tuple[str, ...] = ()
    reported: Mapping[str, Notice]

    def knows(self, key: str) -> bool:
        """Return whether it is decided what becomes of the key."""
        return key in self.read or key in self.reported or self.is_idle(key)

    def is_idle(self, key: str) -> bool:
        """Return whether the key says nothing to applications and users."""
        return key in self.idle or key.startswith(self.idle_prefixes)

    def report(
        self, node: Node, report: Report, *, usual: Mapping[str, str | None] = _NOTHING
    ) -> None:
        """Report each member that is set, and neither read nor idle; `usual` are further values of which there is nothing to say."""
        if not isinstance(node.value, dict):
            return  # whoever reads it reports that
        for key, value in cast("dict[str, object]", node.value).items():
            if key in self.read or self.is_idle(key) or is_unset(value):
                continue
            notice = self.reported.get(key) or Notice(_UNKNOWN, _LOOK)
            written = str(value).lower()
            if written in notice.usual or written == (usual.get(key) or "").lower():
                continue
            place = node.below(key).place
            if notice.what_to_do:
                report.leave_out(place, notice.reason, notice.what_to_do)
            else:
                report.change(place, notice.reason)


def is_unset(value: object) -> bool:
    """Return whether a value says that nothing is set."""
    return value in (None, False, 0) or str(value).lower() in _UNSET
