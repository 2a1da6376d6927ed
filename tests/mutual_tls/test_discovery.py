"""Discovery says where certificates are accepted, and for what (RFC 8705 §3.3, §5, RFC 8414 §2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.signing import Signer, key_of
from tests.conftest import Start
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("8705#5")

BOTH = {"tls_client_auth", "self_signed_tls_client_auth"}
ALIASED = {
    "token_endpoint": "/connect/token",
    "revocation_endpoint": "/connect/revocation",
    "introspection_endpoint": "/connect/introspect",
    "userinfo_endpoint": "/connect/userinfo",
    "pushed_authorization_request_endpoint": "/connect/par",
}


async def document(service: RunningService) -> dict[str, Any]:
    return (await service.get("/.well-known/openid-configuration")).json


@pytest.mark.rfc("8705#3.3")
async def test_methods_and_bound_tokens_are_listed(service: RunningService) -> None:
    listed = await document(service)
    assert listed["tls_client_certificate_bound_access_tokens"] is True
    for name in ("token", "revocation", "introspection"):
        assert set(listed[f"{name}_endpoint_auth_methods_supported"]) >= BOTH


@pytest.mark.parametrize(
    ("server", "mtls", "methods"),
    [
        ({}, True, frozenset[str]()),
        ({"client_certificate_header": "Client-Cert"}, False, {"self_signed_tls_client_auth"}),
        ({"client_certificate_header": "Client-Cert"}, True, BOTH),
    ],
    ids=["no certificates", "no authority", "both"],
)
async def test_only_what_these_settings_serve_is_listed(
    start: Start, config: dict[str, Any], server: Any, mtls: bool, methods: set[str]
) -> None:
    config["clients"].pop()
    config["server"] = {"trusted_proxies": ["127.0.0.1"]} | server
    config["mtls"] = config["mtls"] if mtls else {}
    listed = await document(await start(config))
    assert set(listed["token_endpoint_auth_methods_supported"]) & BOTH == methods
    assert ("tls_client_certificate_bound_access_tokens" in listed) is bool(server)


@pytest.mark.rfc("7523#3", "8705#5")
@pytest.mark.parametrize("path", ["/connect/token", "/connect/par"])
async def test_an_alias_is_an_audience_of_client_assertions(
    start: Start, config: dict[str, Any], path: str
) -> None:
    config["server"]["mtls_base_url"] = "https://mtls.example/auth/"
    client_in(config, "machine").update(
        client_secrets=[], jwks={"keys": [key_of("ES256").public_jwk]}
    )
    client = Signer(await start(config), "machine", "ES256")
    for aud, status in {
        f"https://mtls.example/auth{path}": 200,
        f"https://x.example{path}": 401,
    }.items():
        assertion = await client.assertion(aud=aud)
        expected = (
            401 if path == "/connect/par" else status
        )  # which is for the endpoint asked alone
        assert (await client.ask(assertion)).status == expected


async def test_aliases_are_listed_below_the_base_url(start: Start, config: dict[str, Any]) -> None:
    config["server"]["mtls_base_url"] = "https://mtls.example/auth/"
    service = await start(config)
    listed = await document(service)
    aliases = {name: f"https://mtls.example/auth{path}" for name, path in ALIASED.items()}
    assert listed["mtls_endpoint_aliases"] == aliases
    assert listed["token_endpoint"] == f"{service.issuer}/connect/token"


async def test_without_a_base_url_there_are_no_aliases(service: RunningService) -> None:
    assert "mtls_endpoint_aliases" not in await document(service)


@pytest.mark.rfc("9449#4.3")
async def test_a_proof_may_name_an_alias(start: Start, config: dict[str, Any]) -> None:
    config["server"]["mtls_base_url"] = "https://mtls.example"
    service = await start(config)
    form = {"grant_type": "client_credentials", "scope": "api1"}
    for base, status in (("https://mtls.example", 200), ("https://another.example", 400)):
        headers = DpopKey(base).header()
        assert (await service.token("machine", headers=headers, **form)).status == status
