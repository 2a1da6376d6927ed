"""Rows of the report that several kinds of objects of Keycloak share."""

from __future__ import annotations

from service.takeover.settings import Notice

BY_UI = Notice("the look and the texts of the pages are set by ui (docs/pages.md)")
THEME = Notice(BY_UI.reason, usual=("keycloak", "keycloak.v2", "keycloak.v3", "base"))
UMA = Notice("authorization services (UMA)", "let the API decide by roles or scope")
POLLING = Notice("devices may poll each 5 seconds here", usual=("5",))
REVOKED = Notice(
    "tokens from before this time are revoked there, and count here until they expire",
    "switch when they have expired, or take the keys of before out of signing.verify_only",
)
