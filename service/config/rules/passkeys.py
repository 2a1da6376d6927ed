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
    host = urlsplit(file.issuer).hostname or ""
    if rp_id != host and not _is_owned_parent(rp_id, host):
        message = f"browsers do not accept {rp_id} for passkeys of {host}"
        hint = "write the issuer's host, or a parent domain of it that is yours"
        yield Finding(("mfa", "webauthn", "rp_id"), message, hint)


def _is_owned_parent(rp_id: str, host: str) -> bool:
    """Return whether it is a parent of the host and no public suffix.

    fido2 brings the list with each of its releases. By its algorithm a top-level domain that is not listed, such as one of
    a company's own network, is a public suffix, too; the list has names beyond ASCII as people write them.
    """
    from fido2.rpid import verify_rp_id  # noqa: PLC0415 - it reads the public suffix list

    is_top_level = "." not in rp_id and rp_id != "localhost"
    return not is_top_level and verify_rp_id(_decode(rp_id), f"https://{_decode(host)}")


def _decode(domain: str) -> str:
    """Return the domain with the letters that its xn-- labels stand for (RFC 5891 §4.4)."""
    try:
        return domain.encode("ascii").decode("idna")
    except UnicodeError:
        return domain
