"""The words of ID-JAGs that both sides use (draft-ietf-oauth-identity-assertion-authz-grant-04)."""

from __future__ import annotations

TYP = "oauth-id-jag+jwt"
"""The `typ` header (§3.1)."""

PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag"
"""The value in `authorization_grant_profiles_supported` (§7)."""
