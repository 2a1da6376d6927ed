"""Requests that the service makes trust the authorities of the system and of `outgoing.ca_file`."""

from __future__ import annotations

import ssl
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from service.model.outgoing import Unreachable
from service.outgoing.http_client import OutgoingHttp
from tests.conftest import Start
from tests.driving.authority import root
from tests.outgoing.conftest import serving_tls

pytestmark = pytest.mark.needs("openssl")


async def test_a_further_authority_is_trusted(https: str, certificate: Path) -> None:
    outgoing = OutgoingHttp(timeout=5, ca_file=certificate, policy=None)
    assert (await outgoing.fetch(https)).status == 404
    await outgoing.close()


async def test_a_certificate_of_an_unknown_authority_is_not_trusted(https: str) -> None:
    outgoing = OutgoingHttp(timeout=5, ca_file=None, policy=None)
    with pytest.raises(Unreachable, match="Certificate"):
        await outgoing.fetch(https)
    await outgoing.close()


async def test_an_authority_without_every_extension_is_trusted_for_a_workload_issuer_only(
    tmp_path: Path, start: Start, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Python 3.13 begins, whose flag for RFC 5280 earlier ones do not set by themselves."""
    usual = ssl.create_default_context

    def as_python_3_13() -> ssl.SSLContext:
        context = usual()
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    authority, pem = root(), tmp_path / "ca.pem"
    pem.write_text(authority.pem)
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    shown = authority.issue("CN=cluster", extensions=[names]).write(tmp_path / "cluster.pem")
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(shown)
    monkeypatch.setattr(ssl, "create_default_context", as_python_3_13)
    config["outgoing"] = {"ca_file": str(pem)}
    shared = (await start(config)).parts.shared
    async with serving_tls(own) as url:
        assert (await shared.http_of_workloads(pem).fetch(url)).status == 404
        with pytest.raises(Unreachable, match="Certificate"):
            await shared.http_of_workloads(None).fetch(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://[", "ftp://x/", "http://x.invalid/"]
)
async def test_a_url_that_cannot_be_requested_is_unreachable(url: str) -> None:
    outgoing = OutgoingHttp(timeout=5, ca_file=None, policy=None)
    with pytest.raises(Unreachable):
        await outgoing.fetch(url)
    await outgoing.close()
