"""Makes the TLS contexts of all connections, incoming and outgoing."""

from __future__ import annotations

import ssl
from pathlib import Path


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
