"""A handler has a time limit of its own, apart from the one deadline of store work."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from service.tokens.granting import GrantResult, GrantServices, TokenRequest
from tests.driving.registry import client_in
from tests.driving.service import RunningService


class Slow:
    """A handler that waits longer than the store may."""

    grant_type: ClassVar[str] = "urn:example:slow"

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        """Take nothing."""

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant, after a while."""
        await asyncio.sleep(3.5)
        return request.granted_to("818727")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The handler, in front of a store that has less time for a request."""
    config["extension_grants"].append({"handler": f"{__name__}:Slow"})
    config["store"] = {"timeout": "3s"}
    client_in(config, "gateway")["allowed_grant_types"] = [Slow.grant_type]
    return config


async def test_a_slow_handler_still_gets_its_token(service: RunningService) -> None:
    answer = await service.token("gateway", grant_type=Slow.grant_type, scope="api2")
    assert answer.status == 200
