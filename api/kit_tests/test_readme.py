"""The code in the README works unchanged, and the README explains every setting."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from oauth_resource_server import ResourceServer
from oauth_resource_server import testing as kit_testing
from oauth_resource_server.http import HttpxHttp
from oauth_resource_server.testing import LocalIssuer

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def block_with(text: str) -> str:
    """Return the only block of code that has this in it."""
    (found,) = [block for block in BLOCKS if text in block]
    return str(found)


@pytest.fixture
def orders_api(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the first example as a module."""
    module = ModuleType("orders_api")
    monkeypatch.setitem(sys.modules, "orders_api", module)
    exec(block_with("app = FastAPI()"), module.__dict__)  # noqa: S102
    return module


@pytest.mark.filterwarnings("ignore:Using `httpx` with")
def test_example_passes_the_test_that_the_readme_has_for_it(
    orders_api: ModuleType, local_issuer: LocalIssuer
) -> None:
    names: dict[str, Any] = {}
    exec(block_with("def test_orders_need_their_scope"), names)  # noqa: S102
    names["test_orders_need_their_scope"](local_issuer)
    local_issuer.release()
    assert isinstance(orders_api.guard.server.issuer.http, HttpxHttp)


def test_fixtures_have_the_names_of_the_readme() -> None:
    assert f'pytest_plugins = ["{kit_testing.__name__}"]' in block_with("pytest_plugins")
    for fixture in ("local_issuer", "dpop_key"):
        assert f"`{fixture}`" in README
        assert hasattr(kit_testing, fixture)


def test_every_setting_is_explained() -> None:
    settings = [name for name in inspect.signature(ResourceServer).parameters if name != "self"]
    assert [name for name in settings if f"`{name}`" not in README] == []


async def test_memory_in_redis_accepts_a_proof_once() -> None:
    class Redis:
        def __init__(self) -> None:
            self.keys: set[str] = set()

        async def set(self, key: str, value: int, *, nx: bool, ex: int) -> bool | None:
            assert (value, nx, ex) == (1, True, 70)
            is_new = key not in self.keys
            self.keys.add(key)
            return True if is_new else None

    names: dict[str, Any] = {"redis": Redis()}
    exec(block_with("class ReplaysInRedis"), names)  # noqa: S102
    memory = names["ReplaysInRedis"]()
    assert [await memory.is_first_use("key", 0, 70) for _ in range(2)] == [True, False]
