"""The overlay in which nobody has a secret: a pod of the shop gets a token by the one that Kubernetes gave it."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from tests.driving.listening import listening
from tests.driving.program import eventually
from tests.driving.service import RunningService
from tests.k8s.mounted import CLUSTER
from tests.k8s.overlays_redis import redis_of_dev
from tests.k8s.rendered import K8S, rendered
from tests.k8s.running_pod import Pod, pod_running
from tests.workloads.platform import METADATA, Platform, pod

pytestmark = pytest.mark.needs("kustomize", "redis-server")

ISSUER = "https://kubernetes.default.svc.cluster.local"
AUDIENCE = "token-service"
JOB = yaml.safe_load((K8S / "overlays/workloads/shop.yaml").read_text())


def registry() -> dict[str, Any]:
    """Return the clients and APIs of the overlay."""
    data = rendered("workloads").one("ConfigMap", "token-service-registry")["data"]
    (text,) = data.values()
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_no_client_and_no_api_has_a_secret() -> None:
    found = registry()
    assert [each for each in found["clients"] if not each.get("template")] == []
    assert not any("secret" in key for each in found["api_resources"] for key in each)


def test_the_job_asks_for_a_token_of_the_audience_that_the_service_expects() -> None:
    (volume,) = JOB["spec"]["template"]["spec"]["volumes"]
    (source,) = volume["projected"]["sources"]
    (issuer,) = registry()["workload_issuers"]
    assert source["serviceAccountToken"]["audience"] == issuer["audience"] == AUDIENCE


async def test_pods_get_tokens_and_introspect_without_secrets(tmp_path: Path) -> None:
    platform = Platform(token=CLUSTER["token"])
    (tmp_path / "redis").mkdir()
    async with listening(platform.serve) as platform.origin:
        with redis_of_dev(tmp_path / "redis") as address:
            moved = {"redis:6379": address, ISSUER: platform.origin}
            with pod_running(tmp_path / "pod", rendered("workloads"), replaced=moved) as running:
                await asyncio.to_thread(_ask, running, platform)
    assert METADATA in platform.asked


def _ask(running: Pod, platform: Platform) -> None:
    eventually(lambda: running.probe("readinessProbe") == 200)
    here = cast("RunningService", SimpleNamespace(issuer=AUDIENCE))
    cart, orders = pod(here, platform, "shop", "cart"), pod(here, platform, "apis", "orders")
    asked = dict(each.split("=", 1)[1].split("=", 1) for each in _data())
    status, answer = running.token(**asked, client_assertion=cart.token())
    assert status == 200, answer
    form = {"token": answer["access_token"], **orders.credentials()}
    told = json.loads(running.ask("http", "/connect/introspect", **form)[1])
    assert (told["client_id"], told["exp"] > time.time()) == ("shop.cart", True)
    assert running.token(**asked, client_assertion=orders.token())[1]["error"] == "invalid_client"


def _data() -> list[str]:
    """The parameters that the job sends besides its token."""
    args: list[str] = JOB["spec"]["template"]["spec"]["containers"][0]["args"]
    return [each for each in args if each.startswith("--data=")]
