"""`check` finds clients whose certificates cannot reach the service, and settings without effect (RFC 8705 §2, §5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.config.problem import Problem
from service.start.checks import START_RULES
from service.start.load import inspect
from tests.driving.authority import Certified, self_signed
from tests.driving.certificate import certified

pytestmark = pytest.mark.rfc("8705#2")

PROXY = {"trusted_proxies": ["10.0.0.1"], "client_certificate_header": "Client-Cert"}
TLS = {"certificate": "loopback.pem", "private_key": "loopback.pem"}
OWN = {"tls": TLS | {"client_ca": "ca.pem", "mtls_port": 8443}}
MTLS = {"client_ca": "ca.pem"}
BY_CA = {"token_endpoint_auth_method": "tls_client_auth", "tls_client_auth_san_dns": "a.example"}
THUMBPRINT = "GPTp6CLlrXCuK_3FZAHhnOHkScVaVyrpS3A2PxsfhKg"
SELF_SIGNED = {
    "token_endpoint_auth_method": "self_signed_tls_client_auth",
    "self_signed_certificates": [THUMBPRINT],
}
BOUND = {
    "tls_client_certificate_bound_access_tokens": True,
    "jwks_uri": "https://app.example/keys",
    "token_endpoint_auth_method": "private_key_jwt",
}
METHOD = "clients[app].token_endpoint_auth_method"
BINDING = "clients[app].tls_client_certificate_bound_access_tokens"


@pytest.fixture
def folder(tmp_path: Path, authority: Certified) -> Path:
    certified(tmp_path)
    (tmp_path / "ca.pem").write_text(authority.pem)
    (tmp_path / "none.pem").write_text("none")
    return tmp_path


def problems(
    folder: Path,
    client: Mapping[str, Any] | None,
    server: Mapping[str, Any],
    mtls: Mapping[str, str] | None = None,
) -> dict[str, Problem]:
    """The findings of `check` about a client."""
    app: dict[str, Any] = {
        "client_id": "app",
        "allowed_grant_types": ["client_credentials"],
        "allowed_scopes": ["api1"],
    }
    content = {
        "issuer": "https://auth.example.com",
        "server": server,
        "mtls": mtls or {},
        "clients": [{**app, **client}] if client else [],
        "api_resources": [{"name": "api1", "secrets": [{"sha256": "0" * 64}]}],
    }
    file = folder / "config.yaml"
    file.write_text(yaml.dump(content))
    return {each.path: each for each in inspect(file, {}, START_RULES)}


@pytest.mark.parametrize(
    ("client", "server", "mtls"),
    [
        (BY_CA, PROXY, MTLS),
        (BY_CA, OWN, {}),
        (BY_CA, OWN, MTLS),
        (BY_CA | {"tls_client_certificate_bound_access_tokens": True}, OWN, {}),
        (SELF_SIGNED, PROXY, {}),
        (SELF_SIGNED, PROXY | OWN, {}),
        (BOUND, PROXY, {}),
        (None, PROXY | {"mtls_base_url": "https://mtls.example.com"}, MTLS),
    ],
)
def test_there_is_no_problem_where_certificates_get_through(
    folder: Path, client: Any, server: Any, mtls: Any
) -> None:
    assert problems(folder, client, server, mtls) == {}


@pytest.mark.parametrize(
    ("client", "server", "mtls", "path", "words"),
    [
        (BY_CA, PROXY, {}, METHOD, "needs mtls.client_ca"),
        (BY_CA, {}, MTLS, METHOD, "none can reach this service"),
        (BY_CA, {"tls": TLS | {"client_ca": "ca.pem"}}, {}, METHOD, "none can reach"),
        (SELF_SIGNED, {}, {}, METHOD, "none can reach this service"),
        (SELF_SIGNED, OWN, {}, METHOD, "needs a proxy"),
        (BOUND, {}, {}, BINDING, "none can reach this service"),
        (BOUND | {"dpop_bound_access_tokens": True}, PROXY, {}, BINDING, "cannot be bound"),
        (
            BY_CA | {"tls_client_auth_san_uri": "https://a.example"},
            PROXY,
            MTLS,
            "clients[app].tls_client_auth_san_uri",
            "tls_client_auth_san_dns is given too",
        ),
        ({"token_endpoint_auth_method": "tls_client_auth"}, PROXY, MTLS, METHOD, "needs a tls_cl"),
        (
            {
                "token_endpoint_auth_method": "self_signed_tls_client_auth",
                "jwks": {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}]},
            },
            PROXY,
            {},
            METHOD,
            "needs self_signed_certificates, or x5c",
        ),
        (None, {"tls": TLS | {"mtls_port": 8443}}, {}, "server.tls.mtls_port", "needs client_ca"),
        (
            None,
            {"tls": TLS | {"mtls_port": 8080, "client_ca": "ca.pem"}},
            {},
            "server.tls.mtls_port",
            "another port of this service",
        ),
        (None, PROXY | {"mtls_base_url": "http://a.example"}, {}, "server.mtls_base_url", "https"),
        (
            None,
            PROXY | {"mtls_base_url": "https://a.example/?a"},
            {},
            "server.mtls_base_url",
            "neither query nor fragment",
        ),
        (None, PROXY, {"client_ca": "missing.pem"}, "mtls.client_ca", "there is no file"),
        (None, PROXY, {"client_ca": "none.pem"}, "mtls.client_ca", "holds no certificates"),
    ],
)
def test_what_cannot_work_is_an_error(  # noqa: PLR0917 - each row is a case
    folder: Path, client: Any, server: Any, mtls: Any, path: str, words: str
) -> None:
    found = problems(folder, client, server, mtls)[path]
    assert found.severity == "error"
    assert words in found.message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tls_client_auth_subject_dn", "CN=a, O=b"),
        ("tls_client_auth_subject_dn", "shop"),
        ("tls_client_auth_subject_dn", "WISH=shop"),
        ("tls_client_auth_subject_dn", "CN=#0c05aa"),
        ("tls_client_auth_subject_dn", "CN=a,"),
        ("tls_client_auth_san_ip", "10.0.0.0/8"),
        ("tls_client_auth_san_ip", "a.example"),
    ],
)
def test_a_malformed_name_is_an_error(folder: Path, key: str, value: str) -> None:
    client = {"token_endpoint_auth_method": "tls_client_auth", key: value}
    assert problems(folder, client, PROXY, MTLS)[f"clients[app].{key}"].severity == "error"


@pytest.mark.parametrize(
    "value", ["short", "a" * 64, "-----BEGIN CERTIFICATE-----", self_signed().pem * 2]
)
def test_a_malformed_certificate_is_an_error(folder: Path, value: str) -> None:
    found = problems(folder, SELF_SIGNED | {"self_signed_certificates": [value]}, PROXY)
    assert found["clients[app].self_signed_certificates[0]"].severity == "error"


@pytest.mark.parametrize(
    ("client", "server", "mtls", "path"),
    [
        (BOUND, OWN, {}, BINDING),
        (None, {"tls": TLS | {"client_ca": "ca.pem"}}, {}, "server.tls.client_ca"),
        (None, {}, MTLS, "mtls.client_ca"),
        (None, {"mtls_base_url": "https://a.example"}, {}, "server.mtls_base_url"),
        (
            None,
            {"client_certificate_header": "Client-Cert"},
            {},
            "server.client_certificate_header",
        ),
    ],
)
def test_what_has_no_effect_is_a_warning(
    folder: Path, client: Any, server: Any, mtls: Any, path: str
) -> None:
    assert problems(folder, client, server, mtls)[path].severity == "warning"
