"""A proxy that asks for certificates in front of the service, and the certificates of clients (RFC 8705, RFC 9440)."""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientSession, DummyCookieJar, web
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from tests.driving.authority import Certified, root
from tests.driving.certificate import certified
from tests.interop.listening import listening

AUTHORITY, SERVER = "client-ca.pem", "loopback.pem"
CLIENTS = ("web-certified", "stranger")
PASSED_ON = ("Accept", "Authorization", "Content-Type")


def new_certificates(folder: Path) -> None:
    """Make them for this run: each client's as PEM, and for Java as PKCS #12."""
    authority = root()
    (folder / AUTHORITY).write_text(authority.pem)
    pem = certified(folder).read_text()
    (folder / "server.pem").write_text(pem[pem.index("-----BEGIN CERTIFICATE") :])
    for name in CLIENTS:
        _write(authority.issue(f"CN={name}"), folder / name)


def _write(shown: Certified, file: Path) -> None:
    """Write a client's certificate with its key."""
    shown.write(file.with_suffix(".pem"))
    secret = BestAvailableEncryption(b"changeit")
    store = serialize_key_and_certificates(b"own", shown.key, shown.certificate, None, secret)
    file.with_suffix(".p12").write_bytes(store)


@asynccontextmanager
async def asking_for_certificates(origin: str, issuer: str, folder: Path) -> AsyncIterator[None]:
    """Pass requests on to the service, with the certificate if the client has shown one."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / AUTHORITY))
    tls.verify_mode = ssl.CERT_OPTIONAL
    tls.load_cert_chain(folder / SERVER)
    async with ClientSession(cookie_jar=DummyCookieJar()) as session:

        async def pass_on(request: web.Request) -> web.Response:
            headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
            url = issuer + request.path_qs
            body = await request.read()
            async with session.request(
                request.method, url, headers=headers | certificate_of(request), data=body
            ) as answer:
                told = {
                    name: answer.headers[name]
                    for name in ("Content-Type", "WWW-Authenticate")
                    if name in answer.headers
                }
                return web.Response(status=answer.status, headers=told, body=await answer.read())

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", pass_on)
        async with listening(app, origin, tls):
            yield


def certificate_of(request: web.Request) -> dict[str, str]:
    """Return the header with the certificate that the client has shown, if it has (RFC 9440 §2.2)."""
    shown = request.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return {"Client-Cert": f":{b64encode(shown).decode()}:"} if shown else {}
