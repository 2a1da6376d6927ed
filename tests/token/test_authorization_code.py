"""The code, once and only for its client (RFC 6749 §4.1, RFC 7636, RFC 9700 §2.1.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.events.tokens import CodeReplayed
from service.protocol.pkce import s256
from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService, claims_in

OTHER_VERIFIER = "w" * 43


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`web` may send a plain challenge, and `intruder` and `zealot` are registered alike."""
    web = client_in(config, "web")
    web["allow_plain_text_pkce"] = True
    for name in ("intruder", "zealot"):
        secret = {"client_secrets": [{"sha256": hashed(name)}]}
        config["clients"].append(web | secret | {"client_id": name})
    return config


@pytest.mark.rfc("6749#4.1.4", "openid-core#3.1.3.3")
async def test_a_code_gives_tokens(app: ClientApp) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    assert tokens.json.keys() == {
        "access_token",
        "token_type",
        "expires_in",
        "scope",
        "refresh_token",
        "id_token",
    }
    assert tokens["scope"] == "api1 offline_access openid"
    assert claims_in(tokens["access_token"])["sub"] == "818727"
    assert claims_in(tokens["id_token"])["nonce"] == "the-nonce"


@pytest.mark.rfc("openid-core#11")
async def test_scope_without_offline_access_gives_no_refresh_token(app: ClientApp) -> None:
    assert "refresh_token" not in (await app.tokens()).json


async def test_scope_without_openid_gives_no_id_token(app: ClientApp) -> None:
    assert "id_token" not in (await app.tokens(scope="api1")).json


@pytest.mark.rfc("6749#4.1.2")
async def test_a_code_works_once(app: ClientApp, service: RunningService) -> None:
    code = await app.code()
    tokens = await app.redeem(code)
    assert tokens.status == 200
    for _ in range(2):  # the second one finds no authorization
        assert (await app.redeem(code)).refusal == (400, "invalid_grant")
    assert not await service.is_active(tokens["access_token"])


@pytest.mark.rfc("6749#4.1.2", "9700#4.5")
async def test_a_replay_revokes_all_that_came_from_the_code(
    app: ClientApp, service: RunningService, events: list[object]
) -> None:
    code = await app.code(scope="openid api1 offline_access")
    first = await app.redeem(code)
    second = await app.refresh(first["refresh_token"])
    delegated = await service.token(
        "api1", grant_type="delegation", token=second["access_token"], scope="api2"
    )
    await app.redeem(code)
    for token in (first["access_token"], second["access_token"]):
        assert not await service.is_active(token)
    assert not await service.is_active(delegated["access_token"], caller="api2")
    assert (await app.refresh(second["refresh_token"])).refusal == (400, "invalid_grant")
    assert CodeReplayed(client_id="web", subject="818727") in events


@pytest.mark.rfc("6749#4.1.2")
async def test_a_replay_is_recognised_ten_minutes_later(
    app: ClientApp, service: RunningService, clock: Clock
) -> None:
    code = await app.code()
    tokens = await app.redeem(code)
    clock.forward(minutes=10)
    await app.redeem(code)
    assert not await service.is_active(tokens["access_token"])


@pytest.mark.rfc("6749#4.1.2")
async def test_a_code_expires_by_itself(app: ClientApp, clock: Clock) -> None:
    code, later = await app.code(), await app.code()
    clock.forward(seconds=59)
    assert (await app.redeem(code)).status == 200
    clock.forward(seconds=2)
    assert (await app.redeem(later)).refusal == (400, "invalid_grant")


@pytest.mark.rfc("6749#4.1.3")
@pytest.mark.parametrize("other", ["intruder", "zealot"])
async def test_another_client_does_not_consume_the_code(
    app: ClientApp, service: RunningService, other: str
) -> None:
    code = await app.code()
    stolen = await service.token(
        other,
        grant_type="authorization_code",
        code=code,
        redirect_uri=app.redirect_uri,
        code_verifier=app.code_verifier,
    )
    assert stolen.refusal == (400, "invalid_grant")
    assert (await app.redeem(code)).status == 200


async def test_replay_by_another_client_revokes_nothing(
    app: ClientApp, service: RunningService
) -> None:
    code = await app.code()
    tokens = await app.redeem(code)
    await service.token("intruder", grant_type="authorization_code", code=code)
    assert await service.is_active(tokens["access_token"])


async def test_a_wrong_secret_leaves_the_code_unspent(
    app: ClientApp, service: RunningService
) -> None:
    code = await app.code()
    answer = await service.token(("web", "wrong"), grant_type="authorization_code", code=code)
    assert answer.refusal == (401, "invalid_client")
    assert (await app.redeem(code)).status == 200


@pytest.mark.rfc("7636#4.6")
@pytest.mark.parametrize("wrong", [None, "", OTHER_VERIFIER, "x" * 42, "x" * 128, "é" * 43])
async def test_a_wrong_verifier_spends_the_code(app: ClientApp, wrong: str | None) -> None:
    code = await app.code()
    assert (await app.redeem(code, code_verifier=wrong)).refusal == (400, "invalid_grant")
    assert not any(isinstance(event, CodeReplayed) for event in app.service.events)
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")


@pytest.mark.parametrize("name", ["code_verifier", "redirect_uri"])
async def test_the_refusal_of_a_code_names_the_parameter_that_is_missing(
    app: ClientApp, name: str
) -> None:
    answer = await app.redeem(await app.code(), **{name: None})
    assert answer.refusal == (400, "invalid_grant")
    assert answer["error_description"].startswith(f"{name} is missing")


@pytest.mark.rfc("6749#4.1.3")
@pytest.mark.parametrize(
    "wrong", [None, "https://web.example/callback?tenant=1", "https://web.example/callback/"]
)
async def test_a_wrong_redirect_uri_spends_the_code(app: ClientApp, wrong: str | None) -> None:
    code = await app.code()
    assert (await app.redeem(code, redirect_uri=wrong)).refusal == (400, "invalid_grant")
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")


@pytest.mark.rfc("7636#4.2")
async def test_a_plain_challenge_wants_itself(app: ClientApp) -> None:
    plain = {"code_challenge": app.code_verifier, "code_challenge_method": "plain"}
    assert (await app.tokens(**plain)).status == 200
    hashed_later = {"code_challenge": s256(app.code_verifier), "code_challenge_method": "plain"}
    assert (await app.tokens(**hashed_later)).refusal == (400, "invalid_grant")


@pytest.mark.rfc("9700#4.8.2")
async def test_a_verifier_without_a_challenge_is_refused(
    app_of: Callable[[str], ClientApp],
) -> None:
    app = app_of("implicit")
    code = await app.code(code_challenge=None, code_challenge_method=None)
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")


async def test_a_public_client_redeems_by_its_verifier_alone(
    app_of: Callable[[str], ClientApp],
) -> None:
    assert (await app_of("spa").tokens()).status == 200


@pytest.mark.parametrize("kind", ["ac_", "rt_", "at_"])
async def test_text_that_is_not_a_code_is_refused(app: ClientApp, kind: str) -> None:
    code = await app.code()
    for wrong in (kind + code[3:-1], kind + code[3:-1] + "!", code[:-1] + kind[0], kind, "é"):
        assert (await app.redeem(wrong)).refusal == (400, "invalid_grant")
    assert (await app.redeem(code)).status == 200


async def test_the_scope_is_the_one_that_was_authorized(app: ClientApp) -> None:
    code = await app.code(scope="openid api1")
    assert (await app.redeem(code, scope="api2"))["scope"] == "api1 openid"


async def test_a_user_who_is_disabled_meanwhile_gets_nothing(
    app: ClientApp, config: dict[str, Any]
) -> None:
    code = await app.code()
    config["users"]["list"][0]["enabled"] = False
    app.service.reload(config)
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")
