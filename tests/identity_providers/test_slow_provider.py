"""A provider's slowness is not the store's: what follows has the store's whole time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web

from tests.identity_providers.conftest import ComeBack
from tests.identity_providers.fake_provider import TOKEN, FakeProvider
from tests.identity_providers.journey import arrived


@pytest.fixture
def config(faked_config: dict[str, Any]) -> dict[str, Any]:
    faked_config["store"] = {"timeout": "300ms"}  # for a request: twice that
    faked_config["outgoing"] = {"timeout": "5s"}
    return faked_config


async def test_a_slow_provider_leaves_the_store_its_time(
    fake: FakeProvider, come_back: ComeBack
) -> None:
    async def slow(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.8)
        return await fake.token(request)

    fake.instead[TOKEN] = slow
    assert arrived(await come_back())
