"""Servers on loopback that a URL may lead to."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from tests.driving.listening import serving


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that is its own authority; its key is in the same file."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    names = ["-subj", "/CN=provider", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    pem, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    files = ["-nodes", "-keyout", str(key), "-out", str(pem)]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return pem


@pytest.fixture
def shown(certificate: Path) -> ssl.SSLContext:
    """The certificate."""
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return own


@pytest.fixture
async def https(shown: ssl.SSLContext) -> AsyncIterator[str]:
    """The URL of a server that shows it."""
    async with serving_tls(shown) as url:
        yield url


@asynccontextmanager
async def serving_tls(own: ssl.SSLContext, *pages: web.RouteDef) -> AsyncIterator[str]:
    """The URL of a server with these pages."""
    app = web.Application()
    app.add_routes(pages)
    async with serving(app, tls=own) as origin:
        yield f"{origin}/"
