"""A client that registers for it gets its responses signed and encrypted, or none at all (JARM §2.2, §3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from joserfc.jwe import decrypt_compact
from joserfc.jwk import OctKey
from msgspec.structs import force_setattr

from service.keys.jwe import encryption_key_of_secret
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, header_of
from tests.jarm.conftest import ENCRYPTED, Read, decrypt

pytestmark = pytest.mark.rfc("jarm#2.2", "jarm#3")

SECRET = "a-secret-of-more-than-32-characters"


@pytest.fixture
def config(config: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
    """`web` and `implicit` get their responses encrypted; a test may change how."""
    for client_id in ("web", "implicit"):
        client = client_in(config, client_id)
        client |= ENCRYPTED | getattr(request, "param", {})
    return config


def as_registered(**keys: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("config", [keys], ids=["-".join(keys)], indirect=True)


KEYLESS = as_registered(jwks=None, jwks_uri="http://127.0.0.1:1/")


async def test_only_the_client_can_read_the_response(app: ClientApp, read: Read) -> None:
    page = await app.login(response_mode="jwt")
    claims = await read(page, response=decrypt(page.parameters["response"]))
    assert (await app.redeem(claims["code"]))["scope"] == "api1 openid"


async def test_refusals_are_encrypted_too(app: ClientApp, read: Read) -> None:
    page = await app.authorize(response_mode="jwt", prompt="none")
    claims = await read(page, response=decrypt(page.parameters["response"]))
    assert claims["error"] == "login_required"


@pytest.mark.rfc("jarm#2.3.1")
async def test_tokens_may_be_in_a_query_that_only_the_client_can_read(
    app_of: Callable[[str], ClientApp], read: Read
) -> None:
    app = app_of("implicit")
    page = await app.login(response_type="code id_token token", response_mode="query.jwt")
    assert page.url.startswith(app.redirect_uri + "?response=")
    claims = await read(page, "implicit", response=decrypt(page.parameters["response"]))
    assert {"code", "id_token", "access_token"} < claims.keys()


@as_registered(authorization_encrypted_response_enc=None)
async def test_the_content_is_encrypted_by_the_default_algorithm(app: ClientApp) -> None:
    response = (await app.login(response_mode="jwt")).parameters["response"]
    assert header_of(response)["enc"] == "A128CBC-HS256"


@as_registered(
    authorization_encrypted_response_alg="dir",
    authorization_encrypted_response_enc="A128GCM",
    client_secrets=[{"value": SECRET}],
)
async def test_a_response_may_be_encrypted_by_the_secret(app: ClientApp, read: Read) -> None:
    page = await app.login(response_mode="jwt")
    key: OctKey = encryption_key_of_secret(SECRET, "dir", "A128GCM").material
    found = decrypt_compact(page.parameters["response"], key, algorithms=["dir", "A128GCM"])
    assert "code" in await read(page, response=(found.plaintext or b"").decode())


async def test_a_mode_without_jwt_is_not_encrypted(app: ClientApp) -> None:
    assert "code" in (await app.login(response_mode="query")).parameters


@KEYLESS
async def test_without_a_key_to_encrypt_to_there_is_a_page_before_the_user_is_asked(
    app: ClientApp,
) -> None:
    for changes in ({}, {"prompt": "none"}, {"scope": "openid unknown"}):
        page = await app.authorize(response_mode="jwt", **changes)
        assert page.url.startswith(app.service.issuer)
        assert (page.status, page.error) == (400, "unauthorized_client")


@KEYLESS
async def test_without_a_key_another_mode_is_served(app: ClientApp) -> None:
    assert "code" in (await app.login(response_mode="query")).parameters


@pytest.mark.rfc("9126#4")
async def test_a_key_that_goes_away_after_the_push_is_a_page(
    app: ClientApp, service: RunningService
) -> None:
    form = app.parameters(response_mode="jwt")
    pushed = await app.service.post("/connect/par", auth="web", **form)  # type: ignore[arg-type]
    client = service.features.shared.registry.current.clients["web"]
    force_setattr(client, "jwks", {"keys": []})
    query = urlencode({"client_id": "web", "request_uri": pushed["request_uri"]})
    page = await app.browser.get(f"{service.issuer}/connect/authorize?{query}")
    assert (page.status, page.error) == (400, "unauthorized_client")


async def test_a_key_that_goes_away_during_the_sign_in_grants_nothing(
    app: ClientApp, service: RunningService
) -> None:
    page = await app.authorize(response_mode="jwt")
    client = service.features.shared.registry.current.clients["web"]
    force_setattr(client, "jwks", {"keys": []})
    page = await app.browser.log_in(page)
    assert page.url.startswith(service.issuer)
    assert (page.status, page.error) == (400, "unauthorized_client")
