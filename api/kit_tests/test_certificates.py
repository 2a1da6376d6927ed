"""A token that is bound to a certificate counts only with that certificate (RFC 8705 §3, RFC 9440)."""

from __future__ import annotations

import ssl
from base64 import b64encode
from typing import Any
from urllib.parse import quote

import pytest
from oauth_resource_server import ResourceServer
from oauth_resource_server.jose import hash_of
from oauth_resource_server.testing import LocalIssuer

from .conftest import MakeApi, accepts, refusal_of, request

DER = b"certificate of the client"  # nothing of it is read but its hash
OTHER = b"certificate of somebody else"
PROXY = "10.0.0.7"


@pytest.fixture
def token(local_issuer: LocalIssuer) -> str:
    """Return a token that is bound to DER."""
    return local_issuer.token(cnf={"x5t#S256": hash_of(DER)})


@pytest.fixture
def proxied(make_api: MakeApi) -> ResourceServer:
    """Return an API behind a proxy that ends TLS."""
    return make_api(certificate_header="Client-Cert", trusted_proxies=["10.0.0.0/8", "unix"])


def shown(token: str, header: str | None, **more: Any) -> Any:
    """Return a request with a token, and a certificate in the header."""
    headers = {"Authorization": f"Bearer {token}"}
    return request(headers | ({"Client-Cert": header} if header is not None else {}), **more)


def structured(der: bytes) -> str:
    """Return the header as RFC 9440 has it."""
    return f":{b64encode(der).decode()}:"


async def test_certificate_of_the_connection_counts(api: ResourceServer, token: str) -> None:
    assert await accepts(api, request(token, certificate=DER))
    for certificate in (None, OTHER):
        refusal = await refusal_of(api, request(token, certificate=certificate))
        assert (refusal.status, refusal.error) == (401, "invalid_token")


@pytest.mark.parametrize("peer", [PROXY, None], ids=["network", "unix"])
async def test_header_of_a_trusted_proxy_counts(
    proxied: ResourceServer, token: str, peer: str | None
) -> None:
    escaped = quote(ssl.DER_cert_to_PEM_cert(DER))
    for header in (structured(DER), escaped):
        assert await accepts(proxied, shown(token, header, peer=peer))


@pytest.mark.parametrize("peer", ["192.0.2.1", "", "10.0.0.7, 192.0.2.1", "::1"])
async def test_header_of_anybody_else_does_not_count(
    proxied: ResourceServer, token: str, peer: str
) -> None:
    refusal = await refusal_of(proxied, shown(token, structured(DER), peer=peer))
    assert "the request has none" in refusal.description


@pytest.mark.parametrize(
    "header", [None, "", "::", ":!:", structured(OTHER), f"{structured(DER)}, {structured(DER)}"]
)
async def test_header_without_this_certificate_is_refused(
    proxied: ResourceServer, token: str, header: str | None
) -> None:
    asked = shown(token, header, peer=PROXY, certificate=DER)  # the connection's is the proxy's own
    assert (await refusal_of(proxied, asked)).error == "invalid_token"


async def test_header_does_not_count_where_none_is_configured(
    api: ResourceServer, token: str
) -> None:
    refusal = await refusal_of(api, shown(token, structured(DER), peer=PROXY))
    assert "the request has none" in refusal.description


async def test_both_bindings_are_checked(api: ResourceServer, local_issuer: LocalIssuer) -> None:
    token = local_issuer.token(cnf={"x5t#S256": hash_of(DER), "jkt": "x"})
    assert (await refusal_of(api, request(token, certificate=DER))).error == "invalid_token"


@pytest.mark.parametrize(
    "settings",
    [
        {"certificate_header": "Client-Cert"},
        {"certificate_header": "Client-Cert", "trusted_proxies": ["proxy"]},
    ],
    ids=["nobody", "a name"],
)
def test_header_needs_addresses_that_may_send_it(
    make_api: MakeApi, settings: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"trusted_proxies|proxy"):
        make_api(**settings)
