"""An identity token comes back as a hint though it is signed by a secret or encrypted to us (OIDC Core §3.1.2.1)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import orjson
import pytest
from joserfc.jwe import encrypt_compact
from joserfc.jwk import JWKRegistry

from service.keys.jose import Key
from service.keys.jwe import encrypt, encryption_key_of_secret
from tests.driving.client_app import ClientApp
from tests.driving.service import claims_in
from tests.encryption.conftest import SECRET, as_registered, decrypt

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#3.1.2.2")


async def silently(app: ClientApp, hint: str) -> str | None:
    """The error, if any, of a request without a page that names the person so."""
    return (await app.authorize(prompt="none", id_token_hint=hint)).error


async def id_token(app: ClientApp, username: str = "alice") -> str:
    """As the authorize endpoint gives it."""
    page = await app.login(username, response_type="id_token", scope="openid")
    return page.parameters["id_token"]


@as_registered({"id_token_signed_response_alg": "HS256"})
async def test_a_hint_that_is_signed_with_the_secret_is_read(app_of: Any) -> None:
    app = app_of("implicit")
    assert await silently(app, await id_token(app)) is None


@as_registered({"id_token_signed_response_alg": "HS256"})
async def test_a_secret_signs_for_its_own_client_only(app_of: Any, app: ClientApp) -> None:
    app_of("implicit")
    claims = {"iss": app.service.issuer, "aud": "spa", "sub": "818727", "exp": 1}
    for audience in ("spa", "nobody", "machine"):
        key = Key.from_secret(SECRET, "HS256")
        hint = await key.sign(claims | {"aud": audience}, typ="JWT")
        assert await silently(app, hint) == "invalid_request"


@pytest.mark.rfc("8725#3.1")
@as_registered({"id_token_signed_response_alg": "ES256"})
async def test_a_secret_does_not_sign_for_a_client_registered_for_a_key(app: ClientApp) -> None:
    claims = {"iss": app.service.issuer, "aud": "web", "sub": "818727", "exp": 1}
    hint = await Key.from_secret(SECRET, "HS256").sign(claims, typ="JWT")
    assert await silently(app, hint) == "invalid_request"


@as_registered({"id_token_encrypted_response_alg": "ECDH-ES"})
async def test_a_hint_that_is_encrypted_to_the_client_cannot_be_read(app_of: Any) -> None:
    app = app_of("implicit")
    answer = await app.authorize(prompt="none", id_token_hint=await id_token(app))
    assert answer.error == "invalid_request"
    said = "id_token_hint is encrypted, and not to this service: the client has to decrypt it"
    assert answer.parameters["error_description"] == said


@as_registered({"id_token_encrypted_response_alg": "A128KW"})
async def test_a_hint_that_is_encrypted_with_the_secret_is_read(app_of: Any) -> None:
    app = app_of("implicit")
    assert await silently(app, await id_token(app)) is None


@as_registered(
    {"id_token_encrypted_response_alg": "ECDH-ES", "request_object_encryption_alg": "ECDH-ES"}
)
async def test_a_hint_that_is_encrypted_to_the_service_is_read(app_of: Any) -> None:
    app = app_of("implicit")
    _, content = decrypt(await id_token(app))
    jwks = (await app.service.get("/.well-known/jwks.json"))["keys"]
    ours = next(key for key in jwks if key["use"] == "enc")
    header = {"alg": ours["alg"], "enc": "A128GCM", "kid": ours["kid"]}
    hint = encrypt_compact(header, content, JWKRegistry.import_key(ours))
    assert await silently(app, hint) is None


@pytest.mark.rfc("8725#3.1")
@pytest.mark.parametrize("alg", ["none", "HS256", ["HS256"], {}, None, 1], ids=str)
async def test_an_unsigned_hint_is_refused(app: ClientApp, alg: object) -> None:
    parts = ({"alg": alg, "typ": "JWT"}, {"aud": ["web"]})
    hint = ".".join(urlsafe_b64encode(orjson.dumps(part)).rstrip(b"=").decode() for part in parts)
    assert await silently(app, hint + ".AA") == "invalid_request"


@as_registered({"id_token_encrypted_response_alg": "dir"})
async def test_the_secret_of_another_client_decrypts_nothing(app_of: Any) -> None:
    app = app_of("implicit")
    hint = encrypt(
        b"x", encryption_key_of_secret("other" * 8, "dir", "A128GCM"), enc="A128GCM", cty=None
    )
    assert await silently(app, hint) == "invalid_request"


@as_registered({"id_token_signed_response_alg": "HS256"})
async def test_logout_understands_an_encrypted_hint(app_of: Any) -> None:
    app = app_of("implicit")
    hint = await id_token(app)
    page = await app.browser.get(f"/connect/endsession?id_token_hint={hint}")
    assert page.has("logout-success")


@as_registered({"id_token_encrypted_response_alg": "dir"})
async def test_logout_reads_an_encrypted_hint_of_the_named_client(app_of: Any) -> None:
    app = app_of("implicit")
    hint = await id_token(app)
    page = await app.browser.get(f"/connect/endsession?id_token_hint={hint}")
    assert page.has("logout-confirm")
    page = await app.browser.get(f"/connect/endsession?id_token_hint={hint}&client_id=implicit")
    assert page.has("logout-success")


@pytest.mark.rfc("openid-rpinitiated#2")
@as_registered({"id_token_signed_response_alg": "HS256"})
async def test_a_client_that_signs_its_own_hints_logs_out_no_user_unasked(app_of: Any) -> None:
    app = app_of("implicit")
    subject = claims_in(await id_token(app))["sub"]
    claims = {"iss": app.service.issuer, "aud": "implicit", "sub": subject, "exp": 1}
    hint = await Key.from_secret(SECRET, "HS256").sign(claims, typ="JWT")
    page = await app.browser.get("/connect/endsession", params={"id_token_hint": hint})
    assert page.has("logout-confirm")
