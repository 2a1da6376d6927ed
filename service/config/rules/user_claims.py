"""Rules on what is known of users."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.problem import Finding, warning
from service.config.schema.file import ConfigurationFile
from service.protocol.claim_names import find_expected_type


def standard_claims_have_their_types(file: ConfigurationFile) -> Iterator[Finding]:
    """Clients rely on it that email_verified, say, is no string (OIDC Core §5.1)."""
    for at, user in enumerate(file.users.list):
        for name, value in user.claims.items():
            expected = find_expected_type(name, value)
            if expected is not None:
                location = ("users", "list", at, "claims", name)
                yield warning(location, f"expected {expected}", "OIDC Core §5.1")
