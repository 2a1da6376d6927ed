"""Pushed authorization requests can be switched off, for clients that push wherever metadata list it (RFC 9126 §5)."""

from __future__ import annotations

from typing import Any

import pytest

from service.config.problem import ConfigError
from tests.conftest import Start
from tests.driving.registering import register
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("9126#5")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Nothing can be pushed; clients may register."""
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid"]}
    return config | {"pushed_authorization_requests": False}


async def test_metadata_do_not_list_what_is_off(service: RunningService) -> None:
    listed = (await service.get("/.well-known/openid-configuration")).json
    assert [name for name in listed if "pushed" in name] == []


async def test_nothing_is_there_to_push_to(service: RunningService) -> None:
    answer = await service.request("POST", "/connect/par", data={"client_id": "spa"})
    assert answer.status == 404


@pytest.mark.parametrize("place", ["for all", "for one client"])
async def test_push_is_not_required_without_a_grant_that_uses_it(
    start: Start, config: dict[str, Any], place: str
) -> None:
    demanding = config if place == "for all" else client_in(config, "web")
    demanding["require_pushed_authorization_requests"] = True
    with pytest.raises(ConfigError, match="pushed_authorization_requests is off"):
        await start(config)


@pytest.mark.rfc("7591#3.2.2")
async def test_no_client_registers_to_push(service: RunningService) -> None:
    answer = await register(service, require_pushed_authorization_requests=True)
    assert answer.refusal == (400, "invalid_client_metadata")
