"""The service runs with what the manifests give it: probes, ports, environment, mounted files, a read-only root."""

from __future__ import annotations

import base64
import json
import posixpath
import re
from pathlib import Path

import pytest

from tests.driving.program import eventually
from tests.k8s import read_only
from tests.k8s.overlays_redis import redis_of_dev
from tests.k8s.rendered import Manifests, rendered
from tests.k8s.running_pod import Pod, pod_running

pytestmark = pytest.mark.needs("kustomize", "redis-server")

PROBES = ["startupProbe", "livenessProbe", "readinessProbe"]
MACHINE = {
    "grant_type": "client_credentials",
    "client_id": "machine",
    "client_secret": "machine-secret",
}


@pytest.mark.parametrize("probe", PROBES)
def test_a_probe_finds_the_service(pod: Pod, probe: str) -> None:
    eventually(lambda: pod.probe(probe) == 200)


def test_a_token_is_issued_and_verifies(pod: Pod) -> None:
    eventually(lambda: pod.probe("readinessProbe") == 200)
    status, answer = pod.token(**MACHINE)
    assert status == 200
    header = json.loads(base64.urlsafe_b64decode(answer["access_token"].split(".")[0] + "=="))
    jwks = json.loads(pod.ask("http", "/.well-known/jwks.json")[1])
    assert header["kid"] in {key["kid"] for key in jwks["keys"]}


def test_discovery_names_the_issuer_of_the_settings(pod: Pod) -> None:
    discovery = json.loads(pod.ask("http", "/.well-known/openid-configuration")[1])
    assert discovery["issuer"] == "http://localhost:8080"


@pytest.mark.parametrize("path", ["/metrics", "/health/live", "/health/ready"])
def test_what_is_for_operators_is_on_the_management_port_alone(pod: Pod, path: str) -> None:
    assert pod.ask("management", path)[0] in (200, 503)
    assert pod.ask("http", path)[0] == 404


def test_nothing_public_is_on_the_management_port(pod: Pod) -> None:
    assert pod.ask("management", "/.well-known/openid-configuration")[0] == 404


@pytest.mark.skipif(not read_only.available(), reason="this kernel has no Landlock")
def test_the_service_writes_nowhere_but_where_it_may(pod: Pod) -> None:
    pid = pod.program.process.pid
    assert "NoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_text()
    assert [line for line in pod.program.lines if "Permission denied" in line] == []


def test_several_workers_count_together_in_the_pods_own_folder(tmp_path: Path) -> None:
    (tmp_path / "redis").mkdir()
    with (
        redis_of_dev(tmp_path / "redis") as address,
        pod_running(
            tmp_path / "pod",
            rendered("dev"),
            replaced={"redis:6379": address},
            environ={"SERVICE_WORKERS": "2"},
        ) as pod,
    ):
        eventually(lambda: pod.probe("readinessProbe") == 200)
        assert pod.token(**MACHINE)[0] == 200
        counted = b'tokens_issued_total{grant_type="client_credentials"} 1.0'
        eventually(lambda: counted in pod.ask("management", "/metrics")[1])
        assert list(pod.mounted.folder("tmp").glob("token-service-metrics-*/*.db"))


def test_the_arguments_are_ones_that_the_program_knows(manifests: Manifests) -> None:
    args = manifests.container()["args"]
    assert args == ["serve", "--watch"]


def test_every_path_in_the_settings_is_below_a_mount(manifests: Manifests) -> None:
    mounts = [each["mountPath"] for each in manifests.container()["volumeMounts"]]
    named = re.findall(r"/etc/[\w./-]+|\.\./[\w./-]+", code(settings(manifests)))
    paths = [
        posixpath.normpath(posixpath.join("/etc/token-service/config", each)) for each in named
    ]
    assert paths
    assert [path for path in paths if not path.startswith(tuple(mounts))] == []


def code(text: str) -> str:
    """A YAML text without its comments."""
    return re.sub(r"(^|\s)#.*", "", text)


def test_every_variable_in_the_settings_has_a_value_or_a_default(manifests: Manifests) -> None:
    given = {each["name"] for each in manifests.container()["env"]}
    needed = set(re.findall(r"\$\{(\w+)\}", settings(manifests)))
    known = set(re.findall(r"\$\{(\w+)(?::-)?\}", settings(manifests)))
    assert needed <= given
    assert given - {"SERVICE_CONFIG"} <= known


def test_the_settings_name_the_ports_of_the_container(manifests: Manifests) -> None:
    ports = {each["name"]: each["containerPort"] for each in manifests.container()["ports"]}
    text = settings(manifests)
    assert f"\n  port: {ports['http']}\n" in text
    assert f"\n  management_port: {ports['management']}\n" in text


def settings(manifests: Manifests) -> str:
    """The text of config.yaml."""
    (config,) = (
        each["data"]["config.yaml"]
        for each in manifests.every("ConfigMap")
        if each["metadata"]["name"].startswith("token-service-config-")
    )
    found: str = config
    return found
