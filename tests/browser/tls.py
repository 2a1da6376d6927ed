"""A service whose TLS a proxy ends, under a certificate that signs itself."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.conftest import Start


@asynccontextmanager
async def behind_tls(
    start: Start, folder: Path, configuration: dict[str, Any]
) -> AsyncIterator[str]:
    """Start the service behind the proxy; the published URL."""
    backend: list[int] = []
    writers: list[asyncio.StreamWriter] = []

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward = await asyncio.open_connection("127.0.0.1", backend[0])
        writers.extend((writer, onward[1]))
        await asyncio.gather(pump(reader, onward[1]), pump(onward[0], writer))

    proxy = await asyncio.start_server(forward, "127.0.0.1", 0, ssl=certified(folder))
    published = f"https://localhost:{proxy.sockets[0].getsockname()[1]}"
    service = await start(configuration | {"issuer": published})
    backend.append(urlsplit(service.issuer).port or 0)
    yield published
    proxy.close()
    for each in writers:  # the browser lives longer, and keeps its connections
        each.transport.abort()
    await asyncio.gather(*(each.wait_closed() for each in writers), return_exceptions=True)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass everything on until the one side or the other hangs up."""
    with suppress(ConnectionError, ssl.SSLError):
        while received := await reader.read(65536):
            writer.write(received)
            await writer.drain()
    writer.close()


def certified(folder: Path) -> ssl.SSLContext:
    """TLS with a certificate that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .sign(key, hashes.SHA256())
    )
    encoded = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = folder / "tls.pem"
    file.write_bytes(encoded + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
