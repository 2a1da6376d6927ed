"""Keys are the same at all replicas: what one announces the others publish before anybody signs with it."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from tests.driving.replicas import Fleet
from tests.driving.service import RunningService, header_of
from tests.scale.any_replica.dice import Dice

ASK = {"grant_type": "client_credentials", "scope": "api1"}


async def _published(service: RunningService) -> set[Any]:
    return {key["kid"] for key in (await service.get("/.well-known/jwks.json"))["keys"]}


async def test_every_replica_publishes_the_same_keys(service: RunningService, dice: Dice) -> None:
    first = await _published(service)
    while set(dice.served) != set(dice.replicas):
        assert await _published(service) == first


@pytest.mark.parametrize("dice", [1], indirect=True)  # it takes seconds
async def test_a_key_signs_when_every_replica_publishes_and_verifies_it(
    fleet: Fleet, service: RunningService, dice: Dice
) -> None:
    client = f"rotating-{dice.seed}"
    before = header_of((await service.token(client, **ASK))["access_token"])["kid"]
    command = ("-m", "service", "keys", "rotate", "--now", "--config", str(fleet.config_file))
    rotating = await asyncio.create_subprocess_exec(sys.executable, *command)
    assert await rotating.wait() == 0
    kids = [before]
    while before in kids[-12:]:
        token = (await service.token(client, **ASK))["access_token"]
        kids.append(header_of(token)["kid"])
        assert kids[-1] in await _published(service)
        assert await service.is_active(token)
        await asyncio.sleep(0.2)
