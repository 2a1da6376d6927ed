"""The scheduler and the controllers of Kubernetes place, drain, replace and scale the pods of an overlay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.driving.program import eventually
from tests.k8s.cluster.conftest import Overlay, new_overlay
from tests.k8s.cluster.control_plane import Cluster, control_plane, controllers
from tests.k8s.cluster.nodes import nodes
from tests.k8s.cluster.test_applied import DEPLOYMENT, commands, replicas
from tests.k8s.rendered import write_kustomization

pytestmark = pytest.mark.needs(
    "kubectl", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd", "openssl"
)

MINUTE = 60


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of two nodes."""
    with (
        control_plane(tmp_path_factory.mktemp("control-plane")) as running,
        controllers(running),
        nodes(running, "a", "b"),
    ):
        yield running


@pytest.fixture
def overlay(cluster: Cluster, request: pytest.FixtureRequest, tmp_path: Path) -> Overlay:
    """`dev` with two pods that run."""
    cluster.kubectl("uncordon", "a", "b")
    created = new_overlay("dev", request.node.name, tmp_path)
    cluster.kubectl("apply", "-k", created.folder)
    cluster.kubectl("scale", DEPLOYMENT, "--replicas=2", f"--namespace={created.namespace}")
    wait_for_roll_out(cluster, created)
    return created


def test_a_restart_after_a_drain_spreads_the_pods_again(cluster: Cluster, overlay: Overlay) -> None:
    drain, uncordon, restart = (
        line.replace("NODE", "a").replace("--namespace token-service", f"-n {overlay.namespace}")
        for line in commands("kubectl drain").splitlines()
    )
    assert places(cluster, overlay) == ["a", "b"]
    cluster.attempt(*drain.split()[1:])
    wait_for_roll_out(cluster, overlay)
    assert places(cluster, overlay) == ["b", "b"]
    cluster.kubectl(*uncordon.split()[1:])
    cluster.kubectl(*restart.split()[1:])
    wait_for_roll_out(cluster, overlay)
    assert places(cluster, overlay) == ["a", "b"]


def test_a_drain_needs_the_option_that_the_page_names(cluster: Cluster, overlay: Overlay) -> None:
    refused = cluster.attempt("drain", "a", "--ignore-daemonsets")
    cluster.kubectl("uncordon", "a")
    assert "use --delete-emptydir-data to override" in refused.stderr
    assert places(cluster, overlay) == ["a", "b"]


def test_autoscaling_begins_with_the_pods_that_run(cluster: Cluster, overlay: Overlay) -> None:
    before = names(cluster, overlay)
    write_kustomization(Path(overlay.folder), "dev, scaled", overlay.namespace)
    cluster.kubectl("apply", "-k", overlay.folder)
    assert replicas(cluster, overlay) >= 2
    eventually(lambda: replicas(cluster, overlay) == 3, MINUTE)
    wait_for_roll_out(cluster, overlay)
    assert before < names(cluster, overlay)


def wait_for_roll_out(cluster: Cluster, overlay: Overlay) -> None:
    """Wait until as many pods of the newest revision are ready as are wanted, and no others are left."""
    namespace = f"--namespace={overlay.namespace}"
    cluster.kubectl("rollout", "status", DEPLOYMENT, namespace, "--timeout=100s")
    eventually(lambda: len(names(cluster, overlay)) == replicas(cluster, overlay), MINUTE)


def names(cluster: Cluster, overlay: Overlay) -> set[str]:
    """The names of the pods."""
    pods = cluster.read("pods", f"--namespace={overlay.namespace}")["items"]
    return {pod["metadata"]["name"] for pod in pods}


def places(cluster: Cluster, overlay: Overlay) -> list[str]:
    """The node of each pod."""
    pods = cluster.read("pods", f"--namespace={overlay.namespace}")["items"]
    return sorted(pod["spec"]["nodeName"] for pod in pods)
