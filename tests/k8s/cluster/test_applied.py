"""A real API server takes every overlay with each component, and a second apply changes nothing."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.k8s.cluster.conftest import Overlay, new_overlay
from tests.k8s.cluster.control_plane import Cluster
from tests.k8s.rendered import K8S, Manifest, workloads
from tests.k8s.test_chart import EVERYTHING, chart
from tests.k8s.test_schemas import APART

pytestmark = pytest.mark.needs("helm", "kustomize", "kubectl", "kube-apiserver", "etcd", "openssl")

PAGE = (Path(__file__).parents[3] / "docs/kubernetes.md").read_text()
DEPLOYMENT = "deployment/token-service"


def test_a_second_apply_leaves_everything_unchanged(cluster: Cluster, overlay: Overlay) -> None:
    cluster.kubectl("apply", "-k", overlay.folder)
    before = versions(cluster, overlay)
    second = cluster.kubectl("apply", "-k", overlay.folder).splitlines()
    changed = [line for line in second if not line.endswith(" unchanged")]
    assert changed == [
        "poddisruptionbudget.policy/token-service configured"
    ]  # as any selector of policy/v1
    assert versions(cluster, overlay) == before


def test_a_server_side_apply_changes_nothing_the_second_time(
    cluster: Cluster, overlay: Overlay
) -> None:
    cluster.kubectl("apply", "--server-side", "-k", overlay.folder)
    before = versions(cluster, overlay)
    cluster.kubectl("apply", "--server-side", "-k", overlay.folder)
    assert versions(cluster, overlay) == before


def test_a_server_side_apply_after_others_meets_no_conflict(
    cluster: Cluster, overlay: Overlay
) -> None:
    cluster.kubectl("apply", "-k", overlay.folder)
    cluster.kubectl("apply", "-k", overlay.folder)
    cluster.kubectl("apply", "--server-side", "-k", overlay.folder)


def test_a_namespace_that_admits_restricted_pods_only_admits_these(
    cluster: Cluster, overlay: Overlay
) -> None:
    cluster.kubectl("apply", "-k", overlay.folder)
    cluster.kubectl("create", "serviceaccount", "default", "--namespace", overlay.namespace)
    for template, _ in workloads(overlay.manifests):
        admitted = create_pod(cluster, overlay, template)
        assert (admitted.returncode, admitted.stderr) == (0, "")
        escalating = copy.deepcopy(template)
        del escalating["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"]
        refused = create_pod(cluster, overlay, escalating)
        assert 'violates PodSecurity "restricted' in refused.stderr


def test_an_apply_keeps_the_number_of_pods(cluster: Cluster, overlay: Overlay) -> None:
    cluster.kubectl("apply", "-k", overlay.folder)
    cluster.kubectl("scale", DEPLOYMENT, "--replicas=5", "--namespace", overlay.namespace)
    cluster.kubectl("apply", "-k", overlay.folder)
    cluster.kubectl("apply", "--server-side", "-k", overlay.folder)
    assert replicas(cluster, overlay) == 5


@pytest.mark.parametrize("server_side", [False, True])
def test_autoscaling_takes_a_fixed_number_over_without_going_down_to_one(
    cluster: Cluster, tmp_path: Path, *, server_side: bool
) -> None:
    overlay = new_overlay("dev, scaled", f"taken-over-{server_side}".lower(), tmp_path)
    apply = ("apply", f"--server-side={server_side}".lower(), "-k", overlay.folder)
    kustomization = tmp_path / "kustomization.yaml"
    scaled = yaml.safe_load(kustomization.read_text())
    fixed = {"replicas": [{"name": "token-service", "count": 2}]}
    kustomization.write_text(yaml.safe_dump({**scaled, "components": [], **fixed}))
    cluster.kubectl(*apply)
    run(commands("--replicas 3" if server_side else "set-last-applied"), cluster, overlay)
    kustomization.write_text(yaml.safe_dump(scaled))
    cluster.kubectl(*apply)
    assert replicas(cluster, overlay) == (3 if server_side else 2)


def test_the_chart_is_accepted(cluster: Cluster) -> None:
    cluster.kubectl("create", "namespace", "by-helm")
    manifests = "---\n".join(yaml.safe_dump(each) for each in chart(EVERYTHING).all)
    cluster.kubectl("apply", "--namespace=by-helm", "--filename=-", given=manifests)


@pytest.mark.parametrize("command", ["namespace token-service-dev", "namespace token-service "])
def test_a_namespace_made_as_the_page_says_is_applied_without_a_warning(
    cluster: Cluster, command: str, tmp_path: Path
) -> None:
    (options,) = re.findall(rf"^kubectl create {command} *(.*)$", PAGE, re.MULTILINE)
    overlay = new_overlay("dev", command.replace(" ", "-") + "-made", tmp_path)
    cluster.kubectl("create", "namespace", overlay.namespace, *options.split())
    cluster.kubectl("apply", "-k", overlay.folder)


@pytest.mark.parametrize("file", APART)
def test_what_belongs_to_no_overlay_is_accepted(cluster: Cluster, file: str) -> None:
    (namespace,) = re.findall(r"namespace: (\S+)", (K8S / file).read_text())
    cluster.kubectl("create", "namespace", namespace)
    cluster.kubectl("apply", f"--filename={K8S / file}")


def versions(cluster: Cluster, overlay: Overlay) -> dict[str, str]:
    """The version of every object of an overlay, which grows with each change."""
    listed = json.loads(cluster.kubectl("get", "-k", overlay.folder, "--output=json"))
    return {
        f"{each['kind']}/{each['metadata']['name']}": each["metadata"]["resourceVersion"]
        for each in listed["items"]
    }


def create_pod(
    cluster: Cluster, overlay: Overlay, template: Manifest
) -> subprocess.CompletedProcess[str]:
    """Let the API server judge one pod of a template, as the controller of its workload would."""
    metadata = {**template["metadata"], "name": "one", "namespace": overlay.namespace}
    spec = {"volumes": [{"name": "data", "emptyDir": {}}], **template["spec"]}  # of a claim
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    return cluster.attempt("create", "--dry-run=server", "--filename=-", given=json.dumps(pod))


def replicas(cluster: Cluster, overlay: Overlay) -> int:
    number: int = cluster.read(DEPLOYMENT, "--namespace", overlay.namespace)["spec"]["replicas"]
    return number


def commands(word: str) -> str:
    """The block of commands of the page that has a word in it."""
    blocks = re.findall(r"^```bash\n(.*?)```$", PAGE, re.MULTILINE | re.DOTALL)
    (found,) = (block for block in blocks if word in block)
    return str(found)


def run(commands: str, cluster: Cluster, overlay: Overlay) -> None:
    """Run commands of the page on an overlay's namespace."""
    subprocess.run(
        [
            "bash",
            "-ec",
            commands.replace("--namespace token-service", f"--namespace {overlay.namespace}"),
        ],
        env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
        check=True,
        timeout=60,
    )
