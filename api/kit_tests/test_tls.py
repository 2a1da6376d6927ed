"""Certificates of the TLS connection, as servers of WSGI and ASGI hand them over (RFC 8705 §3, ASGI TLS Extension 0.2)."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from flask import Flask, g
from oauth_resource_server import flask as flask_guards
from oauth_resource_server.guards import read_asgi, read_wsgi
from oauth_resource_server.jose import hash_of
from oauth_resource_server.testing import LocalIssuer
from werkzeug.serving import make_server

from . import test_frameworks
from .conftest import MakeApi
from .test_frameworks import FRAMEWORKS, READ, bearer, through_asgi

DER = b"certificate of the client"  # nothing of it is read but its hash
PEM = ssl.DER_cert_to_PEM_cert(DER)
OTHER = ssl.DER_cert_to_PEM_cert(b"certificate of somebody else")


def make_certificate(folder: Path, name: str) -> Path:
    """Write a certificate that has signed itself, with its key, and return the file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name.from_rfc4514_string(f"CN={name}")
    loopback = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    day = timedelta(days=1)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), 1, now - day, now + day)
        .add_extension(loopback, critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = folder / f"{name}.pem"
    file.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    return file


def der_of(file: Path) -> bytes:
    """Return the certificate in a file."""
    return x509.load_pem_x509_certificate(file.read_bytes()).public_bytes(Encoding.DER)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Return certificates of a server and of two clients."""
    return {name: make_certificate(tmp_path, name) for name in ("server", "client", "other")}


@pytest.fixture
def url(make_api: MakeApi, files: dict[str, Path]) -> Iterator[str]:
    """Return the URL of an API in Flask, on Werkzeug's server, which takes certificates of both clients."""
    app, guard = Flask(__name__), flask_guards.Guard(make_api())

    @app.get("/orders")
    @guard(READ)
    def orders() -> dict[str, str]:
        return {"subject": g.caller.subject}

    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(files["server"])
    tls.verify_mode = ssl.CERT_OPTIONAL
    for name in ("client", "other"):
        tls.load_verify_locations(files[name])
    server = make_server("127.0.0.1", 0, app, ssl_context=tls)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"https://127.0.0.1:{server.port}/orders"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_wsgi_server_hands_the_certificate_over(
    url: str, files: dict[str, Path], local_issuer: LocalIssuer
) -> None:
    token = local_issuer.token(READ, cnf={"x5t#S256": hash_of(der_of(files["client"]))})

    def ask(name: str | None, **headers: str) -> tuple[int, object]:
        trust = ssl.create_default_context(cafile=str(files["server"]))
        if name:
            trust.load_cert_chain(files[name])
        with httpx2.Client(verify=trust) as client:
            answer = client.get(url, headers=bearer(token) | headers)
            return answer.status_code, answer.json()

    assert await asyncio.to_thread(ask, "client") == (200, {"subject": "alice"})
    forged = {"SSL-Client-Cert": quote(ssl.DER_cert_to_PEM_cert(der_of(files["client"])))}
    for name in ("other", None):
        status, answer = await asyncio.to_thread(ask, name, **forged)
        assert (status, answer["error"]) == (401, "invalid_token")  # type: ignore[index]


@pytest.mark.parametrize("name", ["fastapi", "starlette", "litestar", "django async"])
async def test_asgi_server_hands_the_certificate_over(
    make_api: MakeApi, local_issuer: LocalIssuer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """By the TLS extension, which says nothing where the client has shown none."""
    tls: dict[str, Any] = {"client_cert_error": None, "tls_version": 0x0304}

    def with_extension(app: Any) -> Any:
        async def serve(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "extensions": {"tls": tls}}, receive, send)

        return through_asgi(serve)

    monkeypatch.setattr(test_frameworks, "through_asgi", with_extension)
    ask = FRAMEWORKS[name](make_api())
    headers = bearer(local_issuer.token(READ, cnf={"x5t#S256": hash_of(DER)}))
    for chain, status in (((PEM, OTHER), 200), ((OTHER, PEM), 401), ((), 401)):
        tls["client_cert_chain"] = iter(chain)
        assert (await ask("/orders", headers)).status_code == status, chain


@pytest.mark.parametrize(
    "extensions",
    [None, {}, {"tls": None}, {"tls": {}}, {"tls": {"client_cert_chain": None}}]
    + [{"tls": {"client_cert_chain": [pem]}} for pem in ("", "nonsense", "-----BEGIN", "%ff")],
    ids=str,
)
def test_asgi_scope_without_a_certificate_has_none(extensions: Any) -> None:
    scope = {"path": "/", "headers": [], "extensions": extensions}
    assert read_asgi(scope).certificate != DER


@pytest.mark.parametrize(
    "value", [PEM, quote(PEM), f"\n{PEM}\n"], ids=["mod_ssl", "nginx", "spaces"]
)
def test_wsgi_environment_has_the_certificate_in_each_spelling(value: str) -> None:
    assert read_wsgi({"REQUEST_METHOD": "GET", "SSL_CLIENT_CERT": value}).certificate == DER


@pytest.mark.parametrize("value", [None, "", "(null)", "-----BEGIN CERTIFICATE-----", "é", OTHER])
def test_wsgi_environment_without_this_certificate_does_no_harm(value: str | None) -> None:
    environ = {"REQUEST_METHOD": "GET", "SSL_CLIENT_CERT": value, "HTTP_SSL_CLIENT_CERT": PEM}
    assert read_wsgi(environ).certificate != DER
