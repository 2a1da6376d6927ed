"""The manifests, as kustomize renders them, and the service as they run it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.driving.program import eventually
from tests.k8s.overlays_redis import redis_of_dev
from tests.k8s.rendered import COMBINATIONS, Manifests, rendered
from tests.k8s.running_pod import Pod, pod_running

collect_ignore = ["cluster"]
"""`make k8s-test` runs these: building an API server takes too long for each test run."""


@pytest.fixture(params=list(COMBINATIONS))
def manifests(request: pytest.FixtureRequest) -> Manifests:
    """Those of every combination in turn."""
    return rendered(request.param)


@pytest.fixture
def prod() -> Manifests:
    """The overlay for production."""
    return rendered("prod")


@pytest.fixture(scope="session")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pod]:
    """A pod of the overlay `dev` with its Redis."""
    with (
        redis_of_dev(tmp_path_factory.mktemp("redis")) as address,
        pod_running(
            tmp_path_factory.mktemp("pod"), rendered("dev"), replaced={"redis:6379": address}
        ) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def measured(pod: Pod) -> str:
    """The metrics of a pod that has been used."""
    eventually(lambda: pod.probe("readinessProbe") == 200)
    machine = {"client_id": "machine", "client_secret": "machine-secret"}
    _, answer = pod.token(grant_type="client_credentials", **machine)
    pod.token(grant_type="client_credentials", client_id="machine", client_secret="wrong")
    api = {"client_id": "api1", "client_secret": "api1-secret"}
    pod.ask("http", "/connect/introspect", token=answer["access_token"], **api)
    eventually(lambda: b"/connect/introspect" in pod.ask("management", "/metrics")[1])
    return pod.ask("management", "/metrics")[1].decode()
