"""Rules on passkeys (WebAuthn Level 3 §5.1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from service.config.problem import Finding
from service.config.schema.file import ConfigurationFile


def rp_id_covers_the_issuer(file: ConfigurationFile) -> Iterator[Finding]:
    """Browsers refuse a domain that is neither the issuer's host nor a parent of it that somebody owns."""
    rp_id = file.mfa.webauthn.rp_id
    if rp_id is None:
        return
    from fido2.rpid import verify_rp_id  # noqa: PLC0415 - it reads the public suffix list

    host = urlsplit(file.issuer).hostname or ""
    if not verify_rp_id(rp_id, f"https://{host}"):
        message = f"browsers do not accept {rp_id} for passkeys of {host}"
        hint = "write the issuer's host, or a parent domain of it that is yours"
        yield Finding(("mfa", "webauthn", "rp_id"), message, hint)
