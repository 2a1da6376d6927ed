"""Discovery lists what is supported, and nothing else (RFC 8414, OpenID Connect Discovery)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("8414#2", "8414#3")

OPENID = "/.well-known/openid-configuration"
OAUTH = "/.well-known/oauth-authorization-server"
SERVED = {
    "token_endpoint": "/connect/token",
    "authorization_endpoint": "/connect/authorize",
    "introspection_endpoint": "/connect/introspect",
    "revocation_endpoint": "/connect/revocation",
    "userinfo_endpoint": "/connect/userinfo",
    "end_session_endpoint": "/connect/endsession",
    "jwks_uri": "/.well-known/jwks.json",
}
NOT_SERVED = {
    "device_authorization_endpoint",
    "backchannel_authentication_endpoint",
    "registration_endpoint",
    "tls_client_certificate_bound_access_tokens",
    "mtls_endpoint_aliases",
}


async def document(service: RunningService) -> dict[str, Any]:
    """The OpenID configuration."""
    return (await service.get(OPENID)).json


async def test_both_documents_are_equal(service: RunningService) -> None:
    one, other = await service.get(OPENID), await service.get(OAUTH)
    assert one.status == other.status == 200
    assert one.json == other.json
    assert one.headers["Content-Type"].startswith("application/json")


async def test_every_url_is_below_the_issuer(service: RunningService) -> None:
    answer = await service.get(OPENID, headers={"Host": "evil.example"})
    assert answer["issuer"] == service.issuer
    for name, path in SERVED.items():
        assert answer[name] == service.issuer + path
    assert b"evil" not in answer.body


@pytest.mark.rfc("8414#3.1")
async def test_an_issuer_with_a_path_has_its_document_there_too(
    start: Start, config: dict[str, Any]
) -> None:
    config["issuer"] = "https://login.example/auth"
    service = await start(config)
    answer = await service.get(f"{OAUTH}/auth")
    assert answer["issuer"] == "https://login.example/auth"
    assert answer["token_endpoint"] == "https://login.example/auth/connect/token"


async def test_every_endpoint_that_is_listed_answers(service: RunningService) -> None:
    listed = await document(service)
    for name, path in SERVED.items():
        assert name in listed
        assert (await service.get(path)).status != 404


async def test_unsupported_features_are_not_listed(service: RunningService) -> None:
    assert NOT_SERVED.isdisjoint(await document(service))


async def test_the_grant_types_that_a_client_may_use_are_listed(
    service: RunningService, config: dict[str, Any]
) -> None:
    assert (await document(service))["grant_types_supported"] == [
        "authorization_code",
        "client_credentials",
        "delegation",
        "implicit",
        "password",
        "refresh_token",
    ]
    for client_id in ("frontend", "opaque", "implicit"):
        client_in(config, client_id)["enabled"] = False
    service.reload(config)
    left = (await document(service))["grant_types_supported"]
    assert {"password", "implicit"}.isdisjoint(left)


async def test_the_methods_algorithms_and_scopes_in_force_are_listed(
    service: RunningService,
) -> None:
    listed = await document(service)
    assert listed["id_token_signing_alg_values_supported"] == ["ES256"]
    assert {"openid", "profile", "api1", "api1.read", "api2", "offline_access"} <= set(
        listed["scopes_supported"]
    )
    assert {"sub", "name", "email", "auth_time", "acr"} <= set(listed["claims_supported"])
    assert listed["subject_types_supported"] == ["public"]
    assert listed["code_challenge_methods_supported"] == ["S256"]
    assert listed["authorization_response_iss_parameter_supported"] is True


async def test_offline_access_is_listed_while_an_enabled_client_may_have_it(
    start: Start, config: dict[str, Any]
) -> None:
    for client in config["clients"]:
        client["enabled"] = not client.get("allow_offline_access", False)
    found = await document(await start(config))
    assert "offline_access" not in found["scopes_supported"]


async def test_a_hidden_scope_is_not_listed(
    service: RunningService, config: dict[str, Any]
) -> None:
    config["api_scopes"] = [{"name": "api2", "show_in_discovery": False}]
    service.reload(config)
    assert "api2" not in (await document(service))["scopes_supported"]


@pytest.mark.rfc("8414#3.2")
async def test_what_has_no_elements_is_left_out(start: Start, config: dict[str, Any]) -> None:
    config["authentication_contexts"] = []
    found = await document(await start(config))
    assert "acr_values_supported" not in found
    assert [] not in found.values()


@pytest.mark.rfc("7517#5")
async def test_keys_are_public_and_named(service: RunningService) -> None:
    answer = await service.get("/.well-known/jwks.json")
    assert answer.json["keys"]
    for key in answer.json["keys"]:
        assert {"kid", "alg", "use", "kty"} <= key.keys()
        assert key.keys().isdisjoint({"d", "p", "q", "dp", "dq", "qi", "k"})


@pytest.mark.parametrize("path", [OPENID, OAUTH, "/.well-known/jwks.json"])
async def test_every_origin_may_read_the_document(service: RunningService, path: str) -> None:
    answer = await service.get(path, headers={"Origin": "https://anyone.example"})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "max-age" in answer.headers["Cache-Control"]
    refused = await service.request("POST", path)
    assert refused.status == 405


@pytest.mark.rfc("openid-discovery#3")
async def test_every_class_of_authentication_is_listed(
    start: Start, config: dict[str, Any]
) -> None:
    contexts = [{"acr": "phr", "amr": ["hwk"]}, {"acr": "pwd", "amr": ["pwd"]}]
    service = await start(config | {"authentication_contexts": contexts})
    assert (await document(service))["acr_values_supported"] == ["phr", "pwd"]


@pytest.mark.rfc("openid-discovery#3")
@pytest.mark.parametrize(
    ("secret", "macs"),
    [(None, []), ("x" * 31, []), ("x" * 32, ["HS256"]), ("x" * 64, ["HS256", "HS384", "HS512"])],
    ids=["no secret", "short", "32 bytes", "64 bytes"],
)
async def test_what_needs_a_secrets_value_is_listed_where_a_client_has_one(
    start: Start, config: dict[str, Any], secret: str | None, macs: list[str]
) -> None:
    if secret is not None:
        client_in(config, "web")["client_secrets"].append({"value": secret})
    listed = await document(await start(config))
    for what in ("request_object", "token_endpoint_auth", "introspection_endpoint_auth"):
        algorithms = listed[f"{what}_signing_alg_values_supported"]
        assert [alg for alg in algorithms if alg.startswith("HS")] == macs
    for what in ("token", "introspection", "revocation"):
        methods = listed[f"{what}_endpoint_auth_methods_supported"]
        assert ("client_secret_jwt" in methods) == bool(macs)
    encryption = listed.get("request_object_encryption_alg_values_supported", [])
    assert ("dir" in encryption) == (secret is not None)
