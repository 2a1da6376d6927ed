"""A real browser in front of an https issuer whose TLS a proxy ends: cookies with the `__Host-` prefix (RFC 6265bis §4.1.3)."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from playwright.async_api import Browser, Page

from tests.conftest import Start
from tests.driving.chromium import CHROMIUM
from tests.driving.registry import fresh_configuration

pytestmark = pytest.mark.needs(CHROMIUM)


@pytest.fixture
async def issuer(start: Start, tmp_path: Path) -> AsyncIterator[str]:
    """The published URL of a service behind a proxy that ends TLS."""
    backend: list[int] = []
    writers: list[asyncio.StreamWriter] = []

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward = await asyncio.open_connection("127.0.0.1", backend[0])
        writers.extend((writer, onward[1]))
        await asyncio.gather(pump(reader, onward[1]), pump(onward[0], writer))

    proxy = await asyncio.start_server(forward, "127.0.0.1", 0, ssl=certified(tmp_path))
    published = f"https://localhost:{proxy.sockets[0].getsockname()[1]}"
    service = await start(fresh_configuration() | {"issuer": published})
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


@pytest.fixture
async def page(chromium: Browser) -> AsyncIterator[Page]:
    """A window that puts up with the certificate."""
    context = await chromium.new_context(ignore_https_errors=True)
    yield await context.new_page()
    await context.close()


@pytest.mark.rfc("6265#4.1.2")
async def test_a_person_stays_signed_in_by_secure_cookies(page: Page, issuer: str) -> None:
    await page.goto(f"{issuer}/account")
    await page.fill("#username", "alice")
    await page.fill("#password", "alice-password")
    await page.check("#remember")
    await page.click("#login")
    assert await page.inner_text("h1") == "Your account"
    cookies: dict[str, Any] = {cookie["name"]: cookie for cookie in await page.context.cookies()}
    state = cookies.pop("__Host-browser_state")  # which the session-management frame reads
    assert (state["secure"], state["httpOnly"], state["sameSite"]) == (True, False, "None")
    assert set(cookies) == {"__Host-sid", "__Host-browser"}
    assert all(cookie["secure"] and cookie["httpOnly"] for cookie in cookies.values())
    assert {cookie["sameSite"] for cookie in cookies.values()} == {"Lax"}
    assert cookies["__Host-browser"]["expires"] == -1
    assert cookies["__Host-sid"]["expires"] > datetime.now(UTC).timestamp() + 29 * 24 * 3600


async def test_signing_out_takes_the_cookie_away(page: Page, issuer: str) -> None:
    await page.goto(f"{issuer}/account")
    await page.fill("#username", "alice")
    await page.fill("#password", "alice-password")
    await page.click("#login")
    await page.click("#logout")
    await page.click("#logout-confirm")
    await page.wait_for_selector("#logout-success")
    assert [cookie["name"] for cookie in await page.context.cookies()] == ["__Host-browser"]
