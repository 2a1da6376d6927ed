"""docs/apis.md begins with an API that works unchanged, against the demonstration."""

from __future__ import annotations

import json
from types import ModuleType

import httpx2
import pytest

from tests.documentation.conftest import Shell
from tests.documentation.reading import REPOSITORY, blocks
from tests.driving.process import DEMONSTRATION

BLOCKS = blocks(REPOSITORY / "docs/apis.md")
EXAMPLE, TOKEN = (
    next(block.text for block in BLOCKS if block.language == name) for name in ("python", "sh")
)
SHOWN = next(block.text for block in BLOCKS if block.language == "json")


def test_page_shows_the_file_of_the_guide() -> None:
    file = REPOSITORY / "examples/guides/protect_api/fastapi_kit/api.py"
    assert file.read_text().endswith(EXAMPLE)


@pytest.mark.needs("curl")
async def test_api_of_the_page_accepts_a_token_of_the_demonstration(
    shell: Shell, address: str
) -> None:
    module = ModuleType("api")
    exec(EXAMPLE.replace(DEMONSTRATION, address), module.__dict__)  # noqa: S102
    (token,) = shell([TOKEN.splitlines()[0][:-1] + TOKEN.splitlines()[1] + '; echo "$TOKEN"'])
    transport = httpx2.ASGITransport(module.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:3001") as client:
        answer = await client.get("/", headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()) == (200, json.loads(SHOWN))
        refused = await client.get("/", headers={"Authorization": f"Bearer {token}x"})
    await module.api1.aclose()
    assert refused.status_code == 401
