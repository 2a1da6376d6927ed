"""Token responses say when a refresh token and its authorization expire (draft-ietf-oauth-refresh-token-expiration-03)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Clock, Start
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

TYPES = "refresh_token_expiration_types_supported"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The refresh tokens of `frontend` slide; those of `opaque` do not, and it gets no members."""
    client_in(config, "frontend").update(
        token_expiration_members=True,
        refresh_token_expiration="sliding",
        sliding_refresh_token_lifetime="10m",
        absolute_refresh_token_lifetime="1h",
    )
    return config


def members(answer: Answer) -> tuple[Any, Any]:
    return answer.json.get("refresh_token_timeout"), answer.json.get("authorization_expires_in")


async def test_a_client_learns_both_ends(service: RunningService, clock: Clock) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    assert members(tokens) == (pytest.approx(600, abs=2), pytest.approx(3600, abs=2))
    clock.forward(minutes=9)
    token = tokens["refresh_token"]
    tokens = await service.token("frontend", grant_type="refresh_token", refresh_token=token)
    assert members(tokens) == (pytest.approx(600, abs=2), pytest.approx(3060, abs=2))


async def test_the_end_of_the_authorization_bounds_both(
    service: RunningService, clock: Clock
) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    for _ in range(6):
        clock.forward(minutes=9)
        token = tokens["refresh_token"]
        tokens = await service.token("frontend", grant_type="refresh_token", refresh_token=token)
    assert members(tokens) == (pytest.approx(360, abs=2), pytest.approx(360, abs=2))


async def test_without_a_refresh_token_there_is_nothing_to_say(service: RunningService) -> None:
    assert members(await service.user_token(scope="api1")) == (None, None)


async def test_another_client_is_not_told(service: RunningService) -> None:
    tokens = await service.user_token("opaque", scope="api1 offline_access")
    assert members(tokens) == (None, None)


async def test_every_client_may_be_told(start: Start, config: dict[str, Any]) -> None:
    service = await start(config | {"token_expiration_members": True})
    tokens = await service.user_token("opaque", scope="api1 offline_access")
    month = pytest.approx(30 * 86400, abs=2)
    assert members(tokens) == (month, month)


async def test_discovery_lists_both_where_one_client_is_told(
    start: Start, config: dict[str, Any]
) -> None:
    path = "/.well-known/oauth-authorization-server"
    assert (await (await start(config)).get(path))[TYPES] == ["authorization", "token_timeout"]


@pytest.mark.parametrize("changes", [{"token_expiration_members": False}, {"enabled": False}])
async def test_discovery_lists_nothing_where_no_client_is_told(
    start: Start, config: dict[str, Any], changes: dict[str, bool]
) -> None:
    client_in(config, "frontend").update(changes)
    metadata = await (await start(config)).get("/.well-known/oauth-authorization-server")
    assert TYPES not in metadata.json
