"""Pods run without rights they do not need, end in peace, and find what they name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from service.config.convert import convert
from service.config.schema.server import Server
from tests.k8s.rendered import K8S, Manifests, rendered, selected, workloads

pytestmark = pytest.mark.needs("kustomize")

PROBES = ["livenessProbe", "readinessProbe"]
SECRET = yaml.safe_load((K8S / "overlays/prod/secret.example.yaml").read_text())


def test_a_pod_runs_without_rights(manifests: Manifests) -> None:
    for template, container in workloads(manifests):
        pod = template["spec"]
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_the_namespace_admits_no_other_pods(manifests: Manifests) -> None:
    (namespace,) = manifests.every("Namespace")
    labels = namespace["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_a_pod_says_what_it_needs(manifests: Manifests) -> None:
    for _, container in workloads(manifests):
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        assert set(container["resources"]["limits"]) == {"memory"}


def test_a_workload_selects_its_own_pods(manifests: Manifests) -> None:
    for workload in manifests.every("Deployment", "StatefulSet"):
        labels = workload["spec"]["template"]["metadata"]["labels"]
        assert workload["spec"]["selector"]["matchLabels"] == labels


def test_what_is_mounted_is_there(manifests: Manifests) -> None:
    pod = manifests.pod()["spec"]
    named = {each["configMap"]["name"] for each in pod["volumes"] if "configMap" in each}
    assert named <= {each["metadata"]["name"] for each in manifests.every("ConfigMap")}
    mounted = {each["name"] for each in manifests.container()["volumeMounts"]}
    assert mounted == {each["name"] for each in pod["volumes"]}


def test_the_secret_is_the_one_of_the_example(manifests: Manifests) -> None:
    names = {each["secret"]["secretName"] for each in volumes(manifests) if "secret" in each}
    assert names == {SECRET["metadata"]["name"]}


def test_the_secret_example_holds_no_secret() -> None:
    assert set(SECRET["stringData"].values()) == {""}


def test_nothing_is_mounted_in_a_way_that_hides_changes(manifests: Manifests) -> None:
    assert [each for each in manifests.container()["volumeMounts"] if "subPath" in each] == []


@pytest.mark.parametrize("overlay", ["dev", "prod"])
def test_a_setting_rolls_the_pods_and_a_client_does_not(overlay: str) -> None:
    names = {each["metadata"]["name"] for each in rendered(overlay).every("ConfigMap")}
    assert "token-service-registry" in names
    assert any(name.startswith("token-service-config-") for name in names)


def test_the_last_pod_of_a_node_is_not_taken_away(manifests: Manifests) -> None:
    budget = manifests.one("PodDisruptionBudget", "token-service")
    assert budget["spec"]["maxUnavailable"] == 1
    assert selected(manifests.pod()["metadata"]["labels"], budget["spec"]["selector"])


def test_pods_stand_apart(manifests: Manifests) -> None:
    constraints = manifests.pod()["spec"]["topologySpreadConstraints"]
    keys = [each["topologyKey"] for each in constraints]
    assert keys == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
    labels = manifests.pod()["metadata"]["labels"]
    assert all(selected(labels, each["labelSelector"]) for each in constraints)


def test_draining_ends_before_the_pod_is_killed(manifests: Manifests) -> None:
    waits = manifests.container()["lifecycle"]["preStop"]["sleep"]["seconds"]
    pod = manifests.pod()["spec"]
    given = configured(manifests)["server"].get("shutdown_grace", Server().shutdown_grace)
    grace = convert({"shutdown_grace": given}, Server).shutdown_grace
    assert pod["terminationGracePeriodSeconds"] >= waits + grace + 10


def test_a_busy_moment_takes_no_pod_out_and_a_busy_minute_restarts_none(
    manifests: Manifests,
) -> None:
    container = manifests.container()
    assert min(container[probe]["timeoutSeconds"] for probe in PROBES) >= 3
    assert patience(container["readinessProbe"]) >= 5
    assert patience(container["livenessProbe"]) >= 60


def patience(probe: dict[str, Any]) -> int:
    """For how many seconds a pod may leave a probe without an answer."""
    period: int = probe.get("periodSeconds", 10)
    return period * int(probe["failureThreshold"])


def test_a_new_pod_serves_before_an_old_one_ends(manifests: Manifests) -> None:
    strategy = manifests.deployment()["spec"]["strategy"]["rollingUpdate"]
    assert strategy == {"maxUnavailable": 0, "maxSurge": 1}


def volumes(manifests: Manifests) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = manifests.pod()["spec"]["volumes"]
    return found


def configured(manifests: Manifests) -> dict[str, Any]:
    """The settings in the ConfigMap that the service reads."""
    (file,) = (
        each["value"] for each in manifests.container()["env"] if each["name"] == "SERVICE_CONFIG"
    )
    (config,) = (
        each
        for each in manifests.every("ConfigMap")
        if each["metadata"]["name"].startswith("token-service-config-")
    )
    found: dict[str, Any] = yaml.safe_load(config["data"][Path(file).name])
    return found
