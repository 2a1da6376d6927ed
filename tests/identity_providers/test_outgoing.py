"""Requests that the service makes trust the authorities of the system and of `outgoing.ca_file`."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from service.model.outgoing import Unreachable
from service.web.outgoing import Outgoing

pytestmark = pytest.mark.needs("openssl")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that is its own authority; its key is in the same file."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    names = ["-subj", "/CN=provider", "-addext", "subjectAltName=IP:127.0.0.1"]
    pem, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    files = ["-nodes", "-keyout", str(key), "-out", str(pem)]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return pem


@pytest.fixture
async def https(certificate: Path) -> AsyncIterator[str]:
    """The URL of a server that shows it."""
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(certificate, certificate.with_name("key.pem"))
    runner = web.AppRunner(web.Application())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=own).start()
    yield "https://{}:{}/".format(*runner.addresses[0])
    await runner.cleanup()


async def test_a_further_authority_is_trusted(https: str, certificate: Path) -> None:
    outgoing = Outgoing(timeout=5, ca_file=certificate)
    assert (await outgoing.get(https)).status == 404
    await outgoing.close()


async def test_a_stranger_is_not(https: str) -> None:
    outgoing = Outgoing(timeout=5, ca_file=None)
    with pytest.raises(Unreachable, match="Certificate"):
        await outgoing.get(https)
    await outgoing.close()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://[", "ftp://x/", "http://x.invalid/"]
)
async def test_what_cannot_be_asked_is_unreachable(url: str) -> None:
    outgoing = Outgoing(timeout=5, ca_file=None)
    with pytest.raises(Unreachable):
        await outgoing.get(url)
    await outgoing.close()
