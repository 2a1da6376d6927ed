"""A TLS handshake in memory, between a server's context and a client that offers one version and some ciphers."""

from __future__ import annotations

import ssl
from pathlib import Path


def agreed(
    server: ssl.SSLContext,
    version: ssl.TLSVersion,
    ciphers: str | None = None,
    *,
    shown: Path | None = None,
) -> tuple[str, str]:
    """The version and the cipher that both agree on; SSLError without any, or if the certificate `shown` is refused."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    if shown is not None:
        client.load_cert_chain(shown)
    if ciphers is not None:
        client.set_ciphers(ciphers)
    client.minimum_version, client.maximum_version = ssl.TLSVersion.MINIMUM_SUPPORTED, version
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = (
        client.wrap_bio(to_client, to_server),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    finished = [False, False]
    while not all(finished):
        for at, side in enumerate(sides):
            try:
                side.do_handshake()
                finished[at] = True
            except ssl.SSLWantReadError:
                continue
    name = sides[0].version()
    cipher = sides[0].cipher()
    assert name is not None
    assert cipher is not None
    return name, cipher[0]
