"""Identity tokens are signed and encrypted as the client is registered (OIDC Core §10, §16.14)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, header_of
from tests.encryption.conftest import KEYLESS, SECRET, Signed, as_registered, decrypt

pytestmark = pytest.mark.rfc("openid-core#10.1", "openid-core#10.2")

WEB = ("web", SECRET)


async def id_token(app: ClientApp, **changes: str) -> str:
    """From the token endpoint."""
    code = await app.code(**changes)
    form = {"redirect_uri": app.redirect_uri, "code_verifier": app.code_verifier, "code": code}
    answer = await app.service.token(
        (app.client_id, SECRET), grant_type="authorization_code", **form
    )
    return str(answer["id_token"])


@as_registered(*[{"id_token_signed_response_alg": f"HS{size}"} for size in (256, 384, 512)])
async def test_a_secret_signs(app: ClientApp, signed: Signed, config: dict[str, Any]) -> None:
    token = await id_token(app)
    alg = client_in(config, "web")["id_token_signed_response_alg"]
    assert header_of(token) == {"alg": alg, "typ": "JWT"}
    assert signed(token).items() >= {"aud": "web", "sub": "818727", "nonce": "the-nonce"}.items()


@as_registered({"id_token_signed_response_alg": "HS256"})
async def test_hashes_in_an_id_token_are_those_of_its_algorithm(
    app_of: Any, signed: Signed
) -> None:
    page = await app_of("implicit").login(response_type="id_token token")
    claims = signed(page.parameters["id_token"])
    digest = sha256(page.parameters["access_token"].encode()).digest()[:16]
    assert claims["at_hash"] == urlsafe_b64encode(digest).rstrip(b"=").decode()


@pytest.mark.rfc("openid-core#16.14", "7519#5.2")
@as_registered(
    {"id_token_encrypted_response_alg": "RSA-OAEP-256"},
    {
        "id_token_encrypted_response_alg": "ECDH-ES",
        "id_token_encrypted_response_enc": "A256GCM",
        "id_token_signed_response_alg": "HS256",
    },
)
async def test_an_id_token_is_signed_and_then_encrypted(
    app: ClientApp, signed: Signed, config: dict[str, Any]
) -> None:
    header, content = decrypt(await id_token(app))
    client = client_in(config, "web")
    assert header["alg"] == client["id_token_encrypted_response_alg"]
    assert header["enc"] == client.get("id_token_encrypted_response_enc", "A128CBC-HS256")
    assert header["cty"] == "JWT"
    assert signed(content.decode())["sub"] == "818727"


@as_registered({"id_token_encrypted_response_alg": "ECDH-ES"})
async def test_an_id_token_of_the_authorization_endpoint_is_encrypted_too(
    app_of: Any, signed: Signed
) -> None:
    page = await app_of("implicit").login(response_type="id_token", scope="openid")
    _, content = decrypt(page.parameters["id_token"])
    assert signed(content.decode())["aud"] == "implicit"


@as_registered({"id_token_encrypted_response_alg": "ECDH-ES"})
@pytest.mark.parametrize("keys", KEYLESS, ids=["nobody there", "broken"])
async def test_without_a_key_to_encrypt_to_no_id_token_is_issued(
    app: ClientApp, config: dict[str, Any], keys: dict[str, Any]
) -> None:
    code = await app.code()
    del client_in(config, "web")["jwks"]
    client_in(config, "web").update(keys)
    app.service.reload(config)
    form = {"redirect_uri": app.redirect_uri, "code_verifier": app.code_verifier, "code": code}
    answer = await app.service.token(WEB, grant_type="authorization_code", **form)
    assert answer.refusal == (400, "unauthorized_client")


@as_registered({"id_token_encrypted_response_alg": "dir"})
async def test_a_secret_that_has_expired_encrypts_nothing(
    service: RunningService, app_of: Any, config: dict[str, Any]
) -> None:
    secrets = [{"value": SECRET, "expires_at": "2020-01-01T00:00:00Z"}]
    client_in(config, "implicit")["client_secrets"] = secrets
    service.reload(config)
    page = await app_of("implicit").login(response_type="id_token", scope="openid")
    assert page.error == "unauthorized_client"
    assert "id_token" not in page.parameters
