"""A source that is revoked while it is exchanged leaves no active token behind (RFC 8693, RFC 7009 §2)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.token_exchange.exchanging import EXCHANGE, exchange

pytestmark = pytest.mark.rfc("8693#2.2", "7009#2")

AT_ONCE = 20


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`frontend` and `opaque` exchange their own tokens for access and refresh tokens."""
    for name in ("frontend", "opaque"):
        client_in(config, name)["allowed_grant_types"].append(EXCHANGE)
    config["token_exchange"] = [
        {
            "clients": ["frontend", "opaque"],
            "subject_token_types": ["access_token", "refresh_token"],
            "subject_audience": ["api1"],
            "requested_token_types": ["access_token", "jwt", "refresh_token"],
            "scopes": ["api2"],
            "audiences": ["api2"],
        }
    ]
    return config


@pytest.fixture
async def replicas(
    start: Start, config: dict[str, Any], store_url: str
) -> tuple[RunningService, ...]:
    """Two services on one Redis; the embedded store has one."""
    first = await start(config)
    return (first,) if store_url.startswith("memory") else (first, await start(config))


@pytest.mark.parametrize("client", ["frontend", "opaque"])
@pytest.mark.parametrize("source", ["access_token", "refresh_token"])
@pytest.mark.parametrize("requested", ["access_token", "jwt", "refresh_token"])
async def test_nothing_outlives_a_source_that_is_revoked_at_the_same_time(
    replicas: tuple[RunningService, ...], client: str, source: str, requested: str
) -> None:
    tokens = await replicas[0].user_token(client, scope="api1 offline_access")
    first, last = replicas[0], replicas[-1]
    asked = {"of_type": source, "requested_token_type": requested}
    exchanges = [
        exchange(replicas[number % len(replicas)], tokens[source], client, **asked)
        for number in range(AT_ONCE)
    ]
    revoked = last.post("/connect/revocation", auth=client, token=tokens[source])
    _, *answers = await asyncio.gather(revoked, *exchanges)
    made = [answer["access_token"] for answer in answers if answer.status == 200]
    refused = {answer.refusal for answer in answers if answer.status != 200}
    assert refused <= {(400, "invalid_request")}
    caller = client if requested == "refresh_token" else "api2"
    for token in made:
        assert not await first.is_active(token, caller=caller)
