"""Replicas are replaced one by one behind the files of examples/proxies, and no caller sees a failure."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.proxies.proxies import PROGRAMS, site_running
from tests.scale.load import load_on

pytestmark = pytest.mark.needs("redis-server", "nginx", "haproxy", "caddy", "import envoy")


@pytest.mark.parametrize("name", PROGRAMS)
async def test_no_request_fails_while_replicas_are_replaced(
    name: str, tmp_path: Path, whole: dict[str, Any]
) -> None:
    with site_running(name, tmp_path, whole) as site:
        async with load_on(site.url, site.trust):
            await asyncio.sleep(0.5)
            for replica in site.replicas * 2:
                assert await asyncio.to_thread(site.replace, replica) == 0
            await asyncio.sleep(0.5)
