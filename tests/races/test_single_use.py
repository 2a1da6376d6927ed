"""However many ask at once, at however many replicas, one wins (RFC 6749 §4.1.2, RFC 9700 §4.14.2)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, hashed
from tests.driving.service import Answer, RunningService
from tests.token_exchange.exchanging import EXCHANGE, exchange

pytestmark = pytest.mark.rfc("6749#4.1.2", "9700#4.14.2")

AT_ONCE = 50


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`lenient` may repeat a refresh token; three clients may exchange tokens."""
    secret = {"client_secrets": [{"sha256": hashed("lenient")}]}
    lenient = {"client_id": "lenient", "refresh_token_reuse_interval": "30s"}
    config["clients"].append(client_in(config, "frontend") | secret | lenient)
    for name in ("api1", "frontend", "opaque"):
        client_in(config, name)["allowed_grant_types"].append(EXCHANGE)
        client_in(config, name)["allowed_scopes"].append("api2")
    config["token_exchange"] = [
        {
            "clients": ["api1", "frontend", "opaque"],
            "subject_token_types": ["access_token", "refresh_token"],
            "scopes": ["api1", "api2"],
            "audiences": ["api1", "api2"],
        }
    ]
    return config


@pytest.fixture
async def replicas(
    start: Start, config: dict[str, Any], store_url: str
) -> tuple[RunningService, ...]:
    """Two services on one Redis; the embedded store has one."""
    first = await start(config)
    if store_url.startswith("memory"):
        return (first,)
    return (first, await start(config))


@pytest.fixture
async def app(replicas: tuple[RunningService, ...]) -> AsyncIterator[ClientApp]:
    """The client at the first of them."""
    browser = Browser(replicas[0].issuer)
    yield ClientApp(replicas[0], browser)
    await browser.close()


async def all_at_once(
    replicas: tuple[RunningService, ...], client: str, **form: str
) -> list[Answer]:
    """The same request, many times, at every replica."""
    return await asyncio.gather(
        *(replicas[n % len(replicas)].token(client, **form) for n in range(AT_ONCE))
    )


def count_answers(answers: list[Answer]) -> Counter[tuple[int, str | None]]:
    """Count the answers of each kind."""
    return Counter(answer.refusal for answer in answers)


ONE_WINNER = {(200, None): 1, (400, "invalid_grant"): AT_ONCE - 1}


async def test_one_of_many_redemptions_of_a_code_wins_and_dies(
    replicas: tuple[RunningService, ...], app: ClientApp
) -> None:
    code = await app.code(scope="openid api1 offline_access")
    form = {"code": code, "redirect_uri": app.redirect_uri, "code_verifier": app.code_verifier}
    answers = await all_at_once(replicas, "web", grant_type="authorization_code", **form)
    assert count_answers(answers) == ONE_WINNER
    (winner,) = [answer for answer in answers if answer.status == 200]
    for service in replicas:
        assert not await service.is_active(winner["access_token"])
        assert not await service.is_active(winner["refresh_token"], caller="web")
        assert (await replace(app, service=service).refresh(winner["refresh_token"])).status == 400


async def test_a_wrong_verifier_that_comes_between_ends_the_grant_too(
    app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have read the unspent code; the one that proves it is written first."""
    kv, won = app.service.features.shared.kv, list[Answer]()
    write = kv.write

    async def after_the_winner(*writes: Any, durable: bool = False) -> Any:
        monkeypatch.undo()
        won.append(await app.redeem(code))
        return await write(*writes, durable=durable)

    code = await app.code()
    monkeypatch.setattr(kv, "write", after_the_winner)
    assert (await app.redeem(code, code_verifier="w" * 43)).refusal == (400, "invalid_grant")
    assert won[0].status == 200
    assert not await app.service.is_active(won[0]["access_token"])


@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_one_of_many_uses_of_a_refresh_token_wins_and_its_family_dies(
    replicas: tuple[RunningService, ...], client: str
) -> None:
    first = await replicas[0].user_token(client, "api1 offline_access")
    form = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    answers = await all_at_once(replicas, client, **form)
    assert count_answers(answers) == ONE_WINNER
    (winner,) = [answer for answer in answers if answer.status == 200]
    for service in replicas:
        for token in (first["access_token"], winner["access_token"]):
            assert not await service.is_active(token)
    form["refresh_token"] = winner["refresh_token"]
    assert (await replicas[-1].token(client, **form)).refusal == (400, "invalid_grant")


async def test_uses_within_the_reuse_interval_get_the_same_successor(
    replicas: tuple[RunningService, ...],
) -> None:
    first = await replicas[0].user_token("lenient", "api1 offline_access")
    form = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    answers = await all_at_once(replicas, "lenient", **form)
    assert count_answers(answers) == {(200, None): AT_ONCE}
    assert len({answer["refresh_token"] for answer in answers}) == 1
    form["refresh_token"] = answers[0]["refresh_token"]
    assert (await replicas[-1].token("lenient", **form)).status == 200
    assert await replicas[-1].is_active(answers[0]["access_token"])


@pytest.mark.rfc("7009#2.1")
async def test_a_delegation_that_races_its_revocation_leaves_nothing_alive(
    replicas: tuple[RunningService, ...],
) -> None:
    for client in ("frontend", "opaque"):
        source = (await replicas[0].user_token(client))["access_token"]
        form = {"grant_type": "delegation", "token": source, "scope": "api2"}
        asked = [replicas[n % len(replicas)].token("api1", **form) for n in range(20)]
        ended = replicas[-1].post("/connect/revocation", auth=client, token=source)
        *answers, _ = await asyncio.gather(*asked[:10], *asked[10:], ended)
        for answer in answers:
            assert answer.refusal in {(200, None), (400, "invalid_grant")}
            if answer.status == 200:
                assert not await replicas[0].is_active(answer["access_token"], caller="api2")


@pytest.mark.rfc("7009#2.1", "8693#2.2.2")
@pytest.mark.parametrize("case", ["delegation", "exchange", "exchange of a refresh token"])
@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["JWT", "reference token"])
async def test_no_token_is_derived_from_one_that_was_revoked_since_it_was_read(
    replicas: tuple[RunningService, ...],
    monkeypatch: pytest.MonkeyPatch,
    case: str,
    client: str,
) -> None:
    kv, before = replicas[0].features.shared.kv, list[str]()
    write = kv.write
    kind = "refresh_token" if "refresh" in case else "access_token"
    source = (await replicas[0].user_token(client, "api1 offline_access"))[kind]

    async def after_the_revocation(*writes: Any, durable: bool = False) -> Any:
        monkeypatch.undo()
        await replicas[-1].post("/connect/revocation", auth=client, token=source)
        before.extend([key async for key in kv.find_keys("*:at:*")])
        return await write(*writes, durable=durable)

    monkeypatch.setattr(kv, "write", after_the_revocation)
    if case == "delegation":
        answer = await replicas[0].token("api1", grant_type=case, token=source, scope="api2")
    else:
        deriving = client if kind == "refresh_token" else "api1"
        answer = await exchange(replicas[0], source, deriving, of_type=kind)
    assert answer.refusal == (400, "invalid_request" if "exchange" in case else "invalid_grant")
    assert answer["error_description"] == "the token has been revoked"
    if kind == "access_token":  # a record below an authorization that is gone is no active token
        assert [key async for key in kv.find_keys("*:at:*")] == before


@pytest.mark.rfc("7009#2.1")
async def test_a_refresh_that_races_its_revocation_leaves_nothing_alive(
    replicas: tuple[RunningService, ...],
) -> None:
    for client in ("frontend", "opaque", "lenient"):
        first = await replicas[0].user_token(client, "api1 offline_access")
        token = first["refresh_token"]
        answer, _ = await asyncio.gather(
            replicas[0].token(client, grant_type="refresh_token", refresh_token=token),
            replicas[-1].post("/connect/revocation", auth=client, token=token),
        )
        if answer.status == 200:
            assert not await replicas[0].is_active(answer["access_token"])
            assert not await replicas[0].is_active(answer["refresh_token"], caller=client)
