"""An answer that is remembered (`store.tracking`) is the one that would be made anew (RFC 7662 §2.2, §4)."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import tracemalloc
from collections.abc import Mapping
from typing import Any

import pytest
from redis import Redis

from service.endpoints.introspection import IntrospectionEndpoint
from service.events.timings import RequestAnswered
from service.events.tokens import TokenIntrospected
from service.model.registry import Registry
from service.observe.metrics import AT_ONCE
from tests.conftest import Start
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService, basic

pytestmark = [pytest.mark.rfc("7662#4"), pytest.mark.needs("redis-server")]

INACTIVE = {"active": False}
OFTEN = AT_ONCE + 3
"""More than are counted at once."""


@pytest.fixture
def store_url(redis_server: str, redis_admin: Redis) -> str:
    """A real Redis alone: the embedded store tracks nothing."""
    redis_admin.flushall()
    return redis_server


@pytest.fixture(params=["frontend", "opaque"], ids=["jwt", "reference"])
async def token(service: RunningService, request: pytest.FixtureRequest) -> str:
    """A token of either kind, whose answer is remembered."""
    token = str((await service.user_token(request.param))["access_token"])
    await until_remembered(service, token)
    return token


async def until_remembered(service: RunningService, token: str) -> None:
    """Ask until the answer comes without being made anew."""
    made, make = 0, IntrospectionEndpoint._find_claims  # noqa: SLF001

    async def count(*given: Any) -> Mapping[str, object]:
        nonlocal made
        made += 1
        return await make(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IntrospectionEndpoint, "_find_claims", count)
        async with asyncio.timeout(60):
            before = None
            while before != made:
                before = made
                assert await service.is_active(token)


async def test_it_is_the_same_answer(service: RunningService, token: str) -> None:
    first, second = [(await service.introspect(token)).json for _ in range(2)]
    assert first == second
    assert first["sub"] == "818727"


async def test_a_client_that_asks_about_its_own_token_gets_the_same_answer(
    service: RunningService,
) -> None:
    token = str((await service.user_token("opaque"))["access_token"])
    await until_remembered(service, token)
    answers = [(await service.introspect(token, caller="opaque")).json for _ in range(3)]
    assert all(answer == answers[0] and answer["active"] for answer in answers)


async def test_another_caller_gets_its_own(service: RunningService, token: str) -> None:
    assert (await service.introspect(token, caller="api2")).json == INACTIVE
    wrong = await service.post(
        "/connect/introspect", headers={"Authorization": basic("api1", "wrong")}, token=token
    )
    assert wrong.refusal == (401, "invalid_client")
    assert (await service.post("/connect/introspect", token=token)).status == 401


@pytest.mark.rfc("9110#15.5.16")
async def test_a_body_with_a_content_coding_is_refused_all_the_same(
    service: RunningService, token: str
) -> None:
    refused = await service.post(
        "/connect/introspect", auth="api1", headers={"Content-Encoding": "br"}, token=token
    )
    assert refused.status == 415


async def test_it_has_the_id_of_its_own_request(service: RunningService, token: str) -> None:
    for name in ("one", "two"):
        answer = await service.post(
            "/connect/introspect", auth="api1", headers={"X-Request-ID": name}, token=token
        )
        assert (answer.json["active"], answer.headers["X-Request-ID"]) == (True, name)


async def test_at_level_debug_it_gets_lines_with_the_id_of_its_request(
    start: Start,
    config: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG, "service")
    service = await start(config)
    token = str((await service.user_token("opaque"))["access_token"])
    assert [await service.is_active(token) for _ in range(OFTEN)] == [True] * OFTEN
    headers = {"X-Request-ID": "mine"}
    await service.post("/connect/introspect", auth="api1", headers=headers, token=token)
    written, wanted = "", {"token_introspected", "request_answered"}
    async with asyncio.timeout(60):
        while wanted:
            await asyncio.sleep(0)
            written += capfd.readouterr().err
            said = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
            wanted -= {line["event"] for line in said if line["request_id"] == "mine"}


async def test_it_is_counted_as_any_other(service: RunningService, token: str) -> None:
    async def counted() -> list[str]:
        text = service.features.shared.metrics.render().decode()
        names = (
            'requests_total{endpoint="/connect/introspect"',
            'request_duration_seconds_count{endpoint="/connect/introspect"',
            'introspections_total{active="t',
        )
        return [line.split()[-1] for line in text.splitlines() if any(one in line for one in names)]

    before, told = await counted(), len(service.events)
    for _ in range(OFTEN):
        await service.introspect(token)
    assert [float(one) for one in await counted()] == [float(one) + OFTEN for one in before]
    assert [type(event) for event in service.events[told:]] == OFTEN * [
        TokenIntrospected,
        RequestAnswered,
    ]


async def test_a_look_that_finds_the_same_keys_changes_no_answer(service: RunningService) -> None:
    ring = service.features.ring
    before = ring.public_jwks
    await service.features.key_source.refresh()
    assert ring.public_jwks is before, "remembered answers compare it so"


async def test_a_signed_answer_is_made_anew(service: RunningService, token: str) -> None:
    signed = await service.post(
        "/connect/introspect",
        auth="api1",
        headers={"Accept": "application/token-introspection+jwt"},
        token=token,
    )
    assert signed.headers["Content-Type"] == "application/token-introspection+jwt"


async def test_a_revoked_token_is_inactive_at_once(service: RunningService, token: str) -> None:
    client = (await service.introspect(token)).json["client_id"]
    await service.post("/connect/revocation", auth=client, token=token)
    assert not await service.is_active(token)


async def test_every_replica_learns_of_a_revocation(
    service: RunningService, start: Start, token: str
) -> None:
    other = await start(fresh_configuration() | {"issuer": service.issuer})
    await until_remembered(other, token)
    client = (await service.introspect(token)).json["client_id"]
    await service.post("/connect/revocation", auth=client, token=token)
    async with asyncio.timeout(60):
        while await other.is_active(token):
            pass


@pytest.mark.parametrize("disabled", ["user", "client", "scope", "api"])
async def test_what_the_registry_withdraws_counts_at_once(
    service: RunningService, token: str, config: dict[str, Any], disabled: str
) -> None:
    client = (await service.introspect(token)).json["client_id"]
    if disabled == "user":
        config["users"]["list"][0]["enabled"] = False
    elif disabled == "client":
        client_in(config, client)["enabled"] = False
    elif disabled == "scope":
        client_in(config, client)["allowed_scopes"] = ["openid", "api2"]
    else:
        config["api_resources"][0]["scopes"] = ["api1.read"]
        config["api_scopes"] = [{"name": "api1"}]
    service.reload(config)
    assert (await service.introspect(token)).json == INACTIVE


async def test_what_is_withdrawn_while_it_is_made_counts_at_once(
    service: RunningService, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = str((await service.user_token("frontend"))["access_token"])
    await until_remembered(service, token)
    client_in(config, "frontend")["allowed_scopes"] = ["openid", "api2"]
    make = IntrospectionEndpoint._find_claims  # noqa: SLF001

    async def reload_after(*given: Any) -> Mapping[str, object]:
        answer = await make(*given)
        service.reload(config)
        return answer

    # A token that was not asked about before, and the last step of the first answer.
    token = str((await service.user_token("frontend"))["access_token"])
    monkeypatch.setattr(IntrospectionEndpoint, "_find_claims", reload_after)
    assert await service.is_active(token)
    assert (await service.introspect(token)).json == INACTIVE


async def test_former_registries_leave_the_memory(
    service: RunningService, config: dict[str, Any]
) -> None:
    """One with thousands of clients is large, and many answers are never asked for again after a reload."""
    before = _registries()
    for title in "abcd":
        token = str((await service.user_token("opaque"))["access_token"])
        await until_remembered(service, token)
        client_in(config, "opaque")["client_name"] = title
        service.reload(config)
    token = str((await service.user_token("opaque"))["access_token"])
    await until_remembered(service, token)
    assert _registries() <= before + 1


def _registries() -> int:
    gc.collect()
    return sum(type(each) is Registry for each in gc.get_objects())


async def test_it_ends_with_the_token(
    service: RunningService, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if Redis, whose clock goes on as before, still has its record."""
    expires_at = (await service.introspect(token)).json["exp"]
    for now, is_active in ((expires_at - 1, True), (expires_at, False), (expires_at + 1, False)):
        monkeypatch.setattr("service.web.remembered_answers.clock", lambda now=now: now)
        monkeypatch.setattr("service.tokens.active.clock", lambda now=now: now)
        assert await service.is_active(token) is is_active


async def test_a_token_takes_little_memory(service: RunningService) -> None:
    """Even with the record that Redis sent, and although its answer was made in a large buffer."""
    tokens = [str((await service.user_token("opaque"))["access_token"]) for _ in range(20)]
    for token in tokens[:10]:
        await until_remembered(service, token)
    gc.collect()
    tracemalloc.start()
    try:
        for token in tokens[10:]:
            await until_remembered(service, token)
        gc.collect()
        made = tracemalloc.take_snapshot().filter_traces(
            [
                tracemalloc.Filter(True, "*/service/web/*"),
                tracemalloc.Filter(True, "*/service/store/*"),
            ]
        )
    finally:
        tracemalloc.stop()
    assert sum(each.size for each in made.statistics("filename")) < 10 * 4096
