"""A client that registers itself gets and sends what is signed by its secret and encrypted (OIDC Core §10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from joserfc.jwe import encrypt_compact
from joserfc.jwk import JWKRegistry

from service.keys.jose import Key, VerifiedClaims, claims_signed_by
from tests.driving.browser import Browser
from tests.driving.registering import RegisteredApp, register
from tests.driving.service import RunningService
from tests.encryption.conftest import OWN, decrypt

pytestmark = pytest.mark.rfc("openid-registration#2", "openid-core#10")

JWKS = {"keys": [key.as_dict(private=False) for key in OWN.values()]}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Registration that is open to all."""
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "email"]}
    return config


@pytest.fixture
def registering(service: RunningService, browser: Browser) -> Callable[..., Any]:
    """Register a client with keys, `registering(id_token_signed_response_alg="HS256")`."""

    async def register_client(**metadata: Any) -> RegisteredApp:
        return await RegisteredApp.register(service, browser, jwks=JWKS, **metadata)

    return register_client


def signed_by_secret(app: RegisteredApp, token: str, alg: str) -> VerifiedClaims:
    """The claims of what the service signed with the secret that the client was issued."""
    return claims_signed_by(Key.from_secret(app.registered["client_secret"], alg), token)


@pytest.mark.parametrize("alg", ["HS256", "HS384", "HS512"])
async def test_the_issued_secret_signs_for_a_registered_client(
    registering: Callable[..., Any], alg: str
) -> None:
    app = await registering(id_token_signed_response_alg=alg)
    answer = await app.tokens(scope="openid")
    assert signed_by_secret(app, answer["id_token"], alg)["aud"] == app.client_id


async def test_id_tokens_are_encrypted_to_the_registered_key(
    registering: Callable[..., Any],
) -> None:
    app = await registering(
        id_token_encrypted_response_alg="RSA-OAEP-256", id_token_signed_response_alg="HS256"
    )
    _, content = decrypt((await app.tokens(scope="openid"))["id_token"])
    assert signed_by_secret(app, content.decode(), "HS256")["sub"] == "818727"


async def test_userinfo_is_encrypted_to_the_registered_key(registering: Callable[..., Any]) -> None:
    app = await registering(userinfo_encrypted_response_alg="ECDH-ES")
    token = (await app.tokens(scope="openid email"))["access_token"]
    answer = await app.service.get(
        "/connect/userinfo", headers={"Authorization": f"Bearer {token}"}
    )
    _, content = decrypt(answer.body.decode())
    assert orjson.loads(content)["email"] == "alice@example.com"


@pytest.mark.rfc("openid-core#6.1")
@pytest.mark.parametrize("alg", ["RSA-OAEP-256", "ECDH-ES"])
async def test_a_registered_client_encrypts_its_request_to_a_published_key(
    registering: Callable[..., Any], alg: str
) -> None:
    app = await registering(request_object_signing_alg="HS256", request_object_encryption_alg=alg)
    claims = {**app.parameters(scope="openid", state="inside"), "iss": app.client_id}
    key = Key.from_secret(app.registered["client_secret"], "HS256")
    jwks = (await app.service.get("/.well-known/jwks.json"))["keys"]
    ours = next(one for one in jwks if one["alg"] == alg)
    header = {"alg": alg, "enc": "A128GCM", "cty": "JWT", "kid": ours["kid"]}
    jwt = await key.sign(claims, typ="JWT")
    recipient = JWKRegistry.import_key(ours)
    request = encrypt_compact(header, jwt, recipient, algorithms=[alg, "A128GCM"])
    page = await app.login(scope="openid", state=None, request=request)
    assert (await app.browser.submit(page, action="allow")).parameters["state"] == "inside"


@pytest.mark.rfc("7591#3.2.2")
@pytest.mark.parametrize("alg", ["RSA-OAEP", "ECDH-ES+A256KW"])
async def test_encryption_that_the_service_has_no_key_for_is_refused(
    service: RunningService, alg: str
) -> None:
    answer = await register(service, request_object_encryption_alg=alg)
    assert answer.refusal == (400, "invalid_client_metadata")
    assert answer["error_description"].startswith("request_object_encryption_alg: ")


async def test_discovery_lists_what_can_be_registered(service: RunningService) -> None:
    document = (await service.get("/.well-known/openid-configuration")).json
    held = document["request_object_encryption_alg_values_supported"]
    assert held[:2] == ["RSA-OAEP-256", "ECDH-ES"]
    assert "HS512" in document["id_token_signing_alg_values_supported"]
    assert "RSA-OAEP" in document["userinfo_encryption_alg_values_supported"]
