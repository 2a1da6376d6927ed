"""Whatever answers GET answers HEAD, with the same header fields and no body (RFC 9110 §9.3.2)."""

from __future__ import annotations

import asyncio
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from service.app import create_app
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("9110#9.3.2")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Everything that has an address is on."""
    return config | {"registration": {"enabled": True, "allowed_scopes": ["openid"]}}


async def test_every_address_that_answers_get_answers_head(
    service: RunningService,
) -> None:
    paths = _paths(service)
    assert {"/health/live", "/metrics", "/connect/userinfo", "/account/login"} <= paths
    assert {"/.well-known/openid-configuration", "/connect/register/{client_id}"} <= paths
    for path in sorted(paths):
        place = re.sub(r"\{[^}]*\}", "x", path)
        by_get = await service.request("GET", place)
        by_head = await service.request("HEAD", place)
        assert (path, by_head.status, by_head.body) == (path, by_get.status, b"")
        named = by_head.headers.keys() - {"Set-Cookie", "Content-Length"}
        assert (path, named) == (path, by_get.headers.keys() - {"Set-Cookie", "Content-Length"})


async def test_userinfo_is_asked_for_its_headers(service: RunningService, app: ClientApp) -> None:
    token = (await app.tokens())["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    answer = await service.request("HEAD", "/connect/userinfo", headers=headers)
    assert (answer.status, answer.body) == (200, b"")


@pytest.mark.parametrize("path", ["/health/live", "/connect/userinfo", "/account/login"])
async def test_connection_goes_on_after_a_head(service: RunningService, path: str) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(service.issuer).port)
    for _ in range(2):
        writer.write(b"HEAD %s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        assert head.startswith(b"HTTP/1.1 ")
        assert b"\r\nContent-Length: 0\r\n" not in head
    writer.write(b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (await asyncio.wait_for(reader.read(), 30)).startswith(b"HTTP/1.1 200 OK\r\n")
    writer.close()


def _paths(service: RunningService) -> set[str]:
    """Every path with GET that the app has, as it says itself."""
    app = create_app(service.features.shared.configuration, environ={}).app
    return {
        route.resource.canonical
        for route in app.router.routes()
        if route.resource is not None
        and route.method in {"GET", "*"}
        and not isinstance(route.resource, web.StaticResource)
    }
