"""Trouble with the store is 503 everywhere, and never an answer about tokens (RFC 6749 §4.1.2.1, RFC 9110 §15.6.4)."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from typing import Any

import pytest
from redis import Redis

from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("9110#15.6.4")

Mortal = tuple[str, "subprocess.Popen[bytes]"]


@pytest.fixture
def config(config: dict[str, Any], mortal_redis: Mortal) -> dict[str, Any]:
    """A Redis that dies on the way, or stands still for longer than is waited for."""
    config["store"] = {"url": mortal_redis[0], "timeout": "3s"}
    return config


def stop(mortal_redis: Mortal) -> None:
    """Take the store away."""
    mortal_redis[1].terminate()
    mortal_redis[1].wait(timeout=10)


async def assert_is_back(service: RunningService) -> None:
    """It answers again by itself, after a probe or two."""
    async with asyncio.timeout(60):
        while (await service.user_token("opaque")).status != 200:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.1)


def is_unavailable(answer: Answer) -> bool:
    """Whether the answer says: not now, come back."""
    return answer.refusal == (503, "temporarily_unavailable") and "Retry-After" in answer.headers


async def test_every_machine_endpoint_says_so(app: ClientApp, mortal_redis: Mortal) -> None:
    service = app.service
    tokens = await app.tokens(scope="openid api1 offline_access")
    reference = (await service.user_token("opaque"))["access_token"]
    code = await app.code()
    stop(mortal_redis)
    assert is_unavailable(await app.redeem(code))
    assert is_unavailable(await app.refresh(tokens["refresh_token"]))
    assert is_unavailable(await service.user_token())
    assert is_unavailable(await service.token("robot", grant_type="client_credentials"))
    for token in (tokens["access_token"], reference):
        delegation = {"grant_type": "delegation", "token": token, "scope": "api2"}
        assert is_unavailable(await service.token("api1", **delegation))
        assert is_unavailable(await service.introspect(token))
        assert is_unavailable(await service.post("/connect/revocation", auth="opaque", token=token))
        bearer = {"Authorization": f"Bearer {token}"}
        assert is_unavailable(await service.get("/connect/userinfo", headers=bearer))


async def test_metadata_and_keys_still_answer(
    service: RunningService, mortal_redis: Mortal
) -> None:
    stop(mortal_redis)
    for name in ("openid-configuration", "oauth-authorization-server", "jwks.json"):
        answer = await service.get(f"/.well-known/{name}")
        assert answer.status == 200
    assert (await service.get("/.well-known/jwks.json"))["keys"]


async def test_invalid_request_is_refused_without_the_store(
    service: RunningService, mortal_redis: Mortal
) -> None:
    stop(mortal_redis)
    wrong = await service.token(("web", "wrong"), grant_type="authorization_code")
    assert wrong.refusal == (401, "invalid_client")
    unknown = await service.token("web", grant_type="nothing")
    assert unknown.refusal == (400, "unsupported_grant_type")


async def test_a_store_that_does_not_answer_is_not_waited_for(
    service: RunningService, mortal_redis: Mortal
) -> None:
    mortal_redis[1].send_signal(signal.SIGSTOP)
    async with asyncio.timeout(60):
        assert is_unavailable(await service.user_token("opaque"))
    mortal_redis[1].send_signal(signal.SIGCONT)
    await assert_is_back(service)


@pytest.mark.parametrize(
    "trouble", ["CONFIG SET maxmemory 1", "REPLICAOF 127.0.0.1 1"], ids=["full", "read-only"]
)
async def test_store_that_refuses_writes_is_unavailable_too(
    app: ClientApp, mortal_redis: Mortal, trouble: str
) -> None:
    code = await app.code()
    with Redis.from_url(mortal_redis[0]) as redis:
        redis.execute_command(trouble)
        assert is_unavailable(await app.redeem(code))
        assert is_unavailable(await app.service.user_token("opaque"))
        redis.execute_command("CONFIG SET maxmemory 0")
        redis.execute_command("REPLICAOF NO ONE")
    assert (await app.service.user_token("opaque")).status == 200
