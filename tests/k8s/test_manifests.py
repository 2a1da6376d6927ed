"""The manifests in k8s/ are whole: what they name is there, and nothing runs with rights it does not need."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "k8s"
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
MANIFESTS = [
    manifest
    for name in KUSTOMIZATION["resources"]
    for manifest in yaml.safe_load_all((FOLDER / name).read_text())
]
WORKLOADS = [
    manifest for manifest in MANIFESTS if manifest["kind"] in {"Deployment", "StatefulSet"}
]
SECRET = yaml.safe_load((FOLDER / "secret.example.yaml").read_text())

each_workload = pytest.mark.parametrize(
    "workload", WORKLOADS, ids=lambda workload: workload["metadata"]["name"]
)


def one(kind: str, name: str) -> dict:
    """The manifest of that kind and name."""
    (found,) = (m for m in MANIFESTS if (m["kind"], m["metadata"]["name"]) == (kind, name))
    return found


def container_of(workload: dict) -> dict:
    """The one container of a workload's pods."""
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    return container


@each_workload
def test_a_pod_runs_without_rights(workload: dict) -> None:
    pod, container = workload["spec"]["template"]["spec"], container_of(workload)
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@each_workload
def test_a_service_finds_its_pods(workload: dict) -> None:
    service = one("Service", workload["metadata"]["name"])
    assert service["spec"]["selector"] == workload["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["ports"][0]["targetPort"] == container_of(workload)["ports"][0]["name"]


def test_the_probes_ask_the_service_about_its_health() -> None:
    container = container_of(one("Deployment", "token-service"))
    paths = {
        name: container[name]["httpGet"]["path"] for name in container if name.endswith("Probe")
    }
    assert paths == {
        "startupProbe": "/health/live",
        "livenessProbe": "/health/live",
        "readinessProbe": "/health/ready",
    }


def test_the_configuration_names_only_what_the_secret_holds() -> None:
    names = set(re.findall(r"\$\{(\w+)", (FOLDER / "config.yaml").read_text()))
    assert names == set(SECRET["stringData"])


def test_the_configuration_passes_its_check() -> None:
    filled_in = {"ENCRYPTION_KEY": "A" * 43, "REDIS_PASSWORD": "sesame"}
    found = subprocess.run(
        [sys.executable, "-m", "service", "check", FOLDER / "config.yaml"],
        env=os.environ | filled_in,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout


def test_the_secret_example_holds_no_secret() -> None:
    assert set(SECRET["stringData"].values()) == {""}


def test_the_configuration_is_mounted_where_the_service_reads_it() -> None:
    (generated,) = KUSTOMIZATION["configMapGenerator"]
    deployment = one("Deployment", "token-service")
    container = container_of(deployment)
    volume, mount = (
        deployment["spec"]["template"]["spec"]["volumes"][0],
        container["volumeMounts"][0],
    )
    assert (volume["name"], volume["configMap"]["name"]) == (mount["name"], generated["name"])
    assert container["env"][0]["value"] == f"{mount['mountPath']}/{generated['files'][0]}"


def test_draining_ends_before_the_pod_is_killed() -> None:
    pod = one("Deployment", "token-service")["spec"]["template"]["spec"]
    config = yaml.safe_load((FOLDER / "config.yaml").read_text())
    grace = config["server"].get("shutdown_grace", "20s")
    assert pod["terminationGracePeriodSeconds"] > int(grace.removesuffix("s"))
