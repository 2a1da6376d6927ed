"""The user's own name and password (RFC 6749 §4.3)."""

from __future__ import annotations

import pytest

from tests.driving.service import RunningService, claims_in, header_of

pytestmark = pytest.mark.rfc("6749#4.3")


async def test_the_right_password_gives_a_token_of_the_user(service: RunningService) -> None:
    answer = await service.user_token()
    assert answer.status == 200
    assert answer.json.keys() == {"access_token", "token_type", "expires_in", "scope"}
    assert (answer["token_type"], answer["expires_in"], answer["scope"]) == ("Bearer", 3600, "api1")


@pytest.mark.rfc("9068#2.1", "9068#2.2")
async def test_the_token_says_who_and_how(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    claims = claims_in(token)
    assert header_of(token)["typ"] == "at+jwt"
    assert {
        "iss": service.issuer,
        "aud": "api1",
        "sub": "818727",
        "client_id": "frontend",
        "scope": "api1",
        "amr": ["pwd"],
        "acr": "password",
        "idp": "local",
        "email": "alice@example.com",
    }.items() <= claims.items()
    assert claims["auth_time"] <= claims["iat"] == claims["nbf"] == claims["exp"] - 3600
    assert len(claims["jti"]) > 16


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("alice", "wrong"),
        ("nobody", "alice-password"),
        ("carol", "carol-password"),
        ("alice\u0007", "alice-password"),
        ("alice", "alice-password\n"),
    ],
    ids=["wrong password", "unknown", "disabled", "control character", "line feed"],
)
async def test_every_refusal_of_a_person_reads_alike(
    service: RunningService, username: str, password: str
) -> None:
    answer = await service.token(
        "frontend", grant_type="password", username=username, password=password, scope="api1"
    )
    assert answer.refusal == (400, "invalid_grant")
    assert (
        answer["error_description"]
        == "the user name or password is wrong, or otp is missing or wrong"
    )


async def test_a_locked_account_looks_like_a_wrong_password(service: RunningService) -> None:
    usual = {"grant_type": "password", "username": "alice", "scope": "api1"}
    wrong, *_ = [await service.token("frontend", password="wrong", **usual) for _ in range(5)]
    locked = await service.token("frontend", password="alice-password", **usual)
    assert (locked.status, locked.json) == (wrong.status, wrong.json)


async def test_request_without_scope_gets_the_clients_api_scopes(service: RunningService) -> None:
    answer = await service.user_token(scope="")
    assert answer["scope"] == "api1 api1.read api2"
    assert "refresh_token" not in answer.json


@pytest.mark.parametrize(
    "scope", ["unknown", "api1 unknown", 'api1 "', "api1 é", "\t", "api1\napi2", "phone", "API1"]
)
async def test_a_scope_that_is_not_the_clients_is_refused(
    service: RunningService, scope: str
) -> None:
    assert (await service.user_token(scope=scope)).refusal == (400, "invalid_scope")


@pytest.mark.rfc("6749#3.3")
async def test_offline_access_alone_is_refused(service: RunningService) -> None:
    answer = await service.user_token("frontend", "offline_access")
    assert answer.refusal == (400, "invalid_scope")


async def test_offline_access_is_for_clients_that_may_have_it(service: RunningService) -> None:
    answer = await service.user_token("frontend", "api1 offline_access")
    assert answer["refresh_token"].startswith("rt_")
    assert answer["scope"] == "api1 offline_access"


@pytest.mark.rfc("openid-core#3.1.3.3")
async def test_a_password_gives_no_identity_token(service: RunningService) -> None:
    answer = await service.user_token(scope="openid api1")
    assert "id_token" not in answer.json


async def test_a_reference_token_is_recognisable(service: RunningService) -> None:
    token = (await service.user_token("opaque"))["access_token"]
    assert token.startswith("at_")
    assert (await service.introspect(token))["sub"] == "818727"
