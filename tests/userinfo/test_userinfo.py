"""Claims of the user whom an access token stands for (OIDC Core §5.3, RFC 6750)."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("openid-core#5.3", "6750#2")

PATH = "/connect/userinfo"


def bearer(token: str) -> dict[str, str]:
    """The header that holds a token."""
    return {"Authorization": f"Bearer {token}"}


async def userinfo(service: RunningService, token: str) -> Answer:
    """Ask with the token in the header."""
    return await service.get(PATH, headers=bearer(token))


@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_claims_of_the_granted_scope_are_returned(
    service: RunningService, client: str
) -> None:
    tokens = await service.user_token(client, "openid profile api1")
    answer = await userinfo(service, tokens["access_token"])
    assert answer.status == 200
    assert answer.json == {"sub": "818727", "name": "Alice Smith", "given_name": "Alice"}
    assert answer.headers["Cache-Control"] == "no-store"


async def test_sub_is_always_returned(service: RunningService) -> None:
    tokens = await service.user_token(scope="openid")
    assert (await userinfo(service, tokens["access_token"])).json == {"sub": "818727"}


@pytest.mark.rfc("6750#2.2")
async def test_the_token_may_be_sent_in_the_body(service: RunningService) -> None:
    token = (await service.user_token(scope="openid email"))["access_token"]
    answer = await service.post(PATH, access_token=token)
    assert answer.json == {
        "sub": "818727",
        "email": "alice@example.com",
        "email_verified": True,
    }


async def test_a_post_may_have_the_header_and_no_body(service: RunningService) -> None:
    token = (await service.user_token(scope="openid"))["access_token"]
    assert (await service.request("POST", PATH, headers=bearer(token))).status == 200
    assert (await service.post(PATH, headers=bearer(token))).status == 200


@pytest.mark.rfc("6750#2.3", "9700#4.3.2")
async def test_a_token_in_the_query_is_refused(service: RunningService) -> None:
    token = (await service.user_token(scope="openid"))["access_token"]
    for method in ("GET", "POST"):
        answer = await service.request(method, f"{PATH}?access_token={token}")
        assert answer.refusal == (401, "invalid_token")


@pytest.mark.rfc("6750#3.1")
async def test_a_token_in_header_and_body_is_refused(service: RunningService) -> None:
    token = (await service.user_token(scope="openid"))["access_token"]
    answer = await service.post(PATH, headers=bearer(token), access_token=token)
    assert answer.refusal == (400, "invalid_request")
    twice = await service.post(PATH, access_token=[token, token])
    assert twice.refusal == (400, "invalid_request")
    assert 'error="invalid_request"' in twice.headers["WWW-Authenticate"]


async def test_a_header_sent_twice_is_refused(service: RunningService) -> None:
    header = ("Authorization", f"Bearer {(await service.user_token())['access_token']}")
    answer = await service.get(PATH, headers=[header, header])
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("6750#3")
@pytest.mark.parametrize("header", [None, "Basic eDp5", "Bearer", "Bearer ", "bearer\t"])
async def test_without_a_token_the_challenge_names_no_error(
    service: RunningService, header: str | None
) -> None:
    answer = await service.get(PATH, headers={"Authorization": header} if header else {})
    assert answer.status == 401
    challenge = answer.headers["WWW-Authenticate"]
    assert challenge.startswith(f'Bearer realm="{service.issuer}", DPoP algs=')
    assert "error" not in challenge


@pytest.mark.rfc("6750#3.1")
async def test_a_malformed_token_is_invalid(app: ClientApp, service: RunningService) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    own = await service.token("machine", grant_type="client_credentials")
    header, payload, signature = tokens["access_token"].split(".")
    for text in (
        tokens["id_token"],
        tokens["refresh_token"],
        own["access_token"],
        f"{header}.{payload}.{signature[:-4]}AAAA",
        f"{header}.é{payload}.{signature}",
        "nonsense",
        "x" * 60000,
    ):
        answer = await userinfo(service, text)
        assert answer.refusal == (401, "invalid_token")
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


@pytest.mark.rfc("6750#3.1")
async def test_a_token_without_openid_is_insufficient(service: RunningService) -> None:
    token = (await service.user_token(scope="api1"))["access_token"]
    answer = await userinfo(service, token)
    assert answer.refusal == (403, "insufficient_scope")
    challenge = answer.headers["WWW-Authenticate"]
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="openid"' in challenge


@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_a_revoked_token_is_invalid(service: RunningService, client: str) -> None:
    token = (await service.user_token(client, "openid"))["access_token"]
    await service.post("/connect/revocation", auth=client, token=token)
    assert (await userinfo(service, token)).refusal == (401, "invalid_token")


async def test_an_expired_token_is_invalid(service: RunningService, clock: Clock) -> None:
    token = (await service.user_token(scope="openid"))["access_token"]
    clock.forward(minutes=61)
    assert (await userinfo(service, token)).refusal == (401, "invalid_token")


async def test_claims_are_the_users_current_ones(
    service: RunningService, config: dict[str, Any]
) -> None:
    token = (await service.user_token(scope="openid email"))["access_token"]
    config["users"]["list"][0]["claims"]["email"] = "new@example.com"
    service.reload(config)
    assert (await userinfo(service, token))["email"] == "new@example.com"


@pytest.mark.rfc("openid-core#5.3.2")
async def test_a_client_may_register_for_a_signed_answer(
    service: RunningService, config: dict[str, Any]
) -> None:
    client_in(config, "frontend")["userinfo_signed_response_alg"] = "ES256"
    service.reload(config)
    token = (await service.user_token(scope="openid email"))["access_token"]
    answer = await userinfo(service, token)
    keys = KeySet.import_key_set((await service.get("/.well-known/jwks.json")).json)  # type: ignore[arg-type]
    claims = jwt.decode(answer.body.decode(), keys, algorithms=["ES256"]).claims
    assert answer.headers["Content-Type"] == "application/jwt"
    assert (claims["iss"], claims["aud"]) == (service.issuer, "frontend")
    assert (claims["sub"], claims["email"]) == ("818727", "alice@example.com")


async def test_other_methods_are_not_allowed(service: RunningService) -> None:
    answer = await service.request("DELETE", PATH)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET,HEAD,POST")
