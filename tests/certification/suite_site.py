"""The URLs of the suite itself: keys, request objects, sector documents, and logout endpoints."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.driving.listening import listening


@dataclass
class SuiteSite:
    """A site over TLS that answers what a test put there, and remembers what was posted."""

    base: str = ""
    documents: dict[str, str] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)
    posted: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    pings: list[tuple[str | None, Any]] = field(default_factory=list)
    """The Authorization header and the content of each JSON that came."""
    ping_answer: tuple[int, bytes] = (204, b"")

    def publish(self, path: str, content: str) -> str:
        """Put a document there; its address."""
        self.documents[path] = content
        return self.base + path

    def posted_to(self, path: str) -> list[dict[str, str]]:
        """The forms that came there."""
        return [form for where, form in self.posted if where == path]

    async def answer(self, request: web.Request) -> web.Response:
        """A document by GET; anything by POST."""
        if request.content_type == "application/json":
            self.pings.append((request.headers.get("Authorization"), await request.json()))
            status, body = self.ping_answer
            return web.Response(
                status=status, body=body, headers={"Location": self.base + "/elsewhere"}
            )
        if request.method == "POST":
            form = {name: str(value) for name, value in (await request.post()).items()}
            self.posted.append((request.path, form))
            return web.Response(headers={"Cache-Control": "no-store"})
        self.fetched.append(request.path)
        content = self.documents.get(request.path)
        if content is None:
            raise web.HTTPNotFound
        return web.Response(text=content, content_type="application/json")


@asynccontextmanager
async def serving_suite(folder: Path) -> AsyncIterator[SuiteSite]:
    """The site on a free port, its certificate in `suite.crt`."""
    site = SuiteSite()
    async with listening(site.answer, tls=certified(folder)) as site.base:
        yield site


def certified(folder: Path) -> ssl.SSLContext:
    """TLS with a certificate that signs itself, as the suite's does."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=365))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    public = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "suite.crt").write_bytes(public)
    (folder / "suite.pem").write_bytes(private + public)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "suite.pem")
    return context
