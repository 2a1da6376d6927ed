"""docs/roles.md: its configuration and its API let people do what the page says."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import httpx2
import pytest
import yaml

from tests.conftest import Start
from tests.documentation.reading import REPOSITORY, blocks
from tests.driving.process import DEMONSTRATION
from tests.driving.service import RunningService

BLOCKS = {block.language: block.text for block in blocks(REPOSITORY / "docs/roles.md")}


@pytest.fixture
async def service(start: Start) -> RunningService:
    configuration: dict[str, Any] = yaml.safe_load(BLOCKS["yaml"])
    return await start(
        configuration | {"issuer": "http://localhost:0", "signing": {"algorithms": ["ES256"]}}
    )


async def token_of(service: RunningService, username: str, scope: str) -> str:
    async with httpx2.AsyncClient(auth=("bookkeeping", "machine-secret")) as client:
        form = {"grant_type": "password", "username": username, "password": username}
        answer = await client.post(f"{service.issuer}/connect/token", data=form | {"scope": scope})
    assert answer.status_code == 200, answer.text
    token: str = answer.json()["access_token"]
    return token


async def test_userinfo_shows_the_groups(service: RunningService) -> None:
    token = await token_of(service, "alice", "openid groups invoices.write")
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as client:
        answer = await client.get(f"{service.issuer}/connect/userinfo")
    assert answer.json() == json.loads(BLOCKS["json"])


@pytest.mark.parametrize(
    ("username", "scope", "status"),
    [
        ("alice", "invoices.write", 200),
        ("bob", "invoices.write", 403),
        ("alice", "invoices.read", 403),
    ],
)
async def test_the_api_lets_in_whom_the_page_says(
    service: RunningService, username: str, scope: str, status: int
) -> None:
    token = await token_of(service, username, f"openid {scope}")
    module = ModuleType("api")
    code = BLOCKS["python"].replace(f"http://{DEMONSTRATION}", service.issuer)
    exec(compile(code, "api.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    transport = httpx2.ASGITransport(module.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:3001") as client:
        answer = await client.post("/invoices", headers={"Authorization": f"Bearer {token}"})
    await module.invoices.aclose()
    assert answer.status_code == status
