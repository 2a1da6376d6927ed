"""docs/workloads.md: its settings have no problem, and a pod gets a token by them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.catalogue import builtin_catalogue
from service.config.load import inspect
from service.config.problem import Problem
from tests.conftest import Start
from tests.driving.listening import listening
from tests.workloads.platform import Platform, pod

PAGE = (Path(__file__).parents[2] / "docs/workloads.md").read_text()
BLOCKS = [yaml.safe_load(each) for each in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
FIRST = BLOCKS[0]
ISSUERS = [each for each in BLOCKS if "workload_issuers" in each]


def problems(folder: Path, settings: dict[str, Any]) -> list[Problem]:
    file = folder / "config.yaml"
    deployer = {**FIRST["clients"][0], "client_id": "deployer", "template": False}
    usual = {**FIRST, "issuer": "https://login.example"}
    usual["clients"] = [*FIRST["clients"], *([deployer] if settings is not FIRST else [])]
    file.write_text(yaml.safe_dump(usual | settings))
    return [each for each in inspect(file, {}, builtin_catalogue()) if each.severity == "error"]


@pytest.mark.parametrize("settings", ISSUERS, ids=lambda one: one["workload_issuers"][0]["name"])
def test_settings_have_no_error(settings: dict[str, Any], tmp_path: Path) -> None:
    settings = {key: value for key, value in settings.items() if key == "workload_issuers"}
    found = problems(tmp_path, settings)
    assert [each for each in found if "deployer" not in str(each)] == []


async def test_a_pod_gets_a_token_by_the_first_settings(
    start: Start, config: dict[str, Any]
) -> None:
    platform = Platform()
    async with listening(platform.serve) as platform.origin:
        cluster = {**FIRST["workload_issuers"][0], "issuer": platform.origin}
        del cluster["ca_file"], cluster["token_file"]  # of a pod
        service = await start({**config, **FIRST, "workload_issuers": [cluster]})
        cart, orders = (
            pod(service, platform, "shop", "cart"),
            pod(service, platform, "apis", "orders"),
        )
        token = (await cart.ask(scope="orders.read"))["access_token"]
        answer = await service.post("/connect/introspect", token=token, **orders.credentials())
        assert answer["client_id"] == "shop.cart"
