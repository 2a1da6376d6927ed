"""The words of Identity Assertion JWT Authorization Grants, ID-JAGs for short, that both sides use."""

from __future__ import annotations

DRAFT = "draft-ietf-oauth-identity-assertion-authz-grant-04"
"""The text that `identity/received_id_jag.py` and the issuing side implement."""

TYP = "oauth-id-jag+jwt"
"""The `typ` header (§3.1)."""

PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag"
"""The value in `authorization_grant_profiles_supported` (§7)."""
