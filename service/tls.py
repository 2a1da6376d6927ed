"""Makes the TLS contexts of all connections, incoming and outgoing."""

from __future__ import annotations

import errno
import ssl
from pathlib import Path
from typing import NoReturn


class KeyIsEncrypted(OSError):
    """A private key has a passphrase, which nobody can enter while a service runs."""


def make_context(
    purpose: ssl.Purpose = ssl.Purpose.SERVER_AUTH, *, ca_file: Path | None = None
) -> ssl.SSLContext:
    """Return Python's default context, which trusts the system's authorities, or those of a file in their place.

    Certificates need not have every extension of RFC 5280, which Python demands from 3.13 on: many private authorities,
    such as those of clusters, issue them without. Raise OSError if the file cannot be used.
    """
    context = ssl.create_default_context(purpose, cafile=ca_file)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def show_certificate(
    context: ssl.SSLContext, certificate: Path | str, private_key: Path | str | None
) -> None:
    """Let a context show a certificate; raise OSError if the files cannot be used.

    Without a function for the passphrase OpenSSL would ask for it on the terminal, and wait.
    """
    context.load_cert_chain(certificate, private_key, password=refuse_passphrase)


def refuse_passphrase() -> NoReturn:
    """Raise KeyIsEncrypted, in the place of a passphrase."""
    raise KeyIsEncrypted(errno.EINVAL, "the private key is encrypted; remove its passphrase")
