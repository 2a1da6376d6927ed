"""The Helm chart makes the same installation as the kustomize overlay `prod`."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.k8s.rendered import K8S, Manifest, Manifests, rendered

pytestmark = pytest.mark.needs("helm", "kustomize")

PROD = K8S / "overlays/prod"
FILES = [
    f"--set-file=config={PROD}/config/config.yaml",
    *(
        f"--set-file=registry.{path.name.replace('.', chr(92) + '.')}={path}"
        for path in sorted((PROD / "registry").iterdir())
    ),
]
EVERYTHING = f"--values={Path(__file__).with_name('chart_values.yaml')}"


def helm(*options: str) -> subprocess.CompletedProcess[str]:
    """Render the chart for the oldest supported release of Kubernetes."""
    return subprocess.run(
        ["helm", "template", "token-service", str(K8S / "chart"), "--kube-version=1.30", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def chart(*options: str) -> Manifests:
    done = helm(*FILES, *options)
    assert done.returncode == 0, done.stderr
    return Manifests(tuple(each for each in yaml.safe_load_all(done.stdout) if each))


@pytest.mark.parametrize(
    ("overlay", "options"),
    [("prod", ["--set=monitoring.enabled=true"]), ("prod, all", [EVERYTHING])],
)
def test_the_chart_renders_what_kustomize_renders(overlay: str, options: list[str]) -> None:
    expected = by_name(rendered(overlay))
    del expected["Namespace", "token-service"]
    assert by_name(chart(*options)) == expected


def test_another_setting_rolls_the_pods_and_another_client_does_not(tmp_path: Path) -> None:
    clients = tmp_path / "clients.yaml"
    clients.write_text("clients: []\n")
    settings = tmp_path / "config.yaml"
    settings.write_text("issuer: https://other.example.com\n")
    before = chart().pod()
    assert chart(rf"--set-file=registry.clients\.yaml={clients}").pod() == before
    assert chart(f"--set-file=config={settings}").pod() != before


def test_values_reach_the_pods() -> None:
    digest = "sha256:" + "0" * 64
    manifests = chart(
        f"--set=image.digest={digest}",
        "--set=podSpec.nodeSelector.disk=fast",
        "--set=secretName=mine",
        "--set=autoscaling.enabled=false,ingress.enabled=false",
    )
    assert manifests.container()["image"] == f"registry.example.com/token-service@{digest}"
    assert manifests.pod()["spec"]["nodeSelector"] == {"disk": "fast"}
    secrets = [each["secret"] for each in manifests.pod()["spec"]["volumes"] if "secret" in each]
    assert [each["secretName"] for each in secrets] == ["mine"]
    assert manifests.every("HorizontalPodAutoscaler", "Ingress") == []


def test_a_key_of_the_pods_specification_takes_the_place_of_the_charts_own() -> None:
    values = ["terminationGracePeriodSeconds=90", "topologySpreadConstraints=[]", "hostUsers=false"]
    done = helm(*FILES, *(f"--set-json=podSpec.{value}" for value in values))
    assert done.stdout.count("terminationGracePeriodSeconds:") == 1
    spec = Manifests(tuple(filter(None, yaml.safe_load_all(done.stdout)))).pod()["spec"]
    assert spec["terminationGracePeriodSeconds"] == 90
    assert (spec["topologySpreadConstraints"], spec["hostUsers"]) == ([], False)
    assert spec["enableServiceLinks"] is False


def test_openshift_may_choose_the_user() -> None:
    numbers = ("runAsUser", "runAsGroup", "fsGroup")
    pod = chart(f"--set={','.join(f'securityContext.{name}=null' for name in numbers)}").pod()
    assert pod["spec"]["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


@pytest.mark.parametrize(
    ("issuer", "paths"),
    [
        ("https://example.com", ["/"]),
        ("https://example.com/", ["/"]),
        ("https://example.com/auth", ["/auth", "/.well-known/oauth-authorization-server/auth"]),
    ],
)
def test_ingress_leads_to_the_path_of_the_issuer(
    tmp_path: Path, issuer: str, paths: list[str]
) -> None:
    settings = tmp_path / "config.yaml"
    settings.write_text(f"issuer: {issuer}\n")
    manifests = chart(f"--set-file=config={settings}")
    (rule,) = manifests.one("Ingress", "token-service")["spec"]["rules"]
    assert rule["host"] == "example.com"
    assert [each["path"] for each in rule["http"]["paths"]] == paths
    assert {each["backend"]["service"]["name"] for each in rule["http"]["paths"]} == {
        "token-service"
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "config"),
        (["--set=ingress.enabled=false"], "config"),
        (["--set-string=config=clients: []"], "an issuer"),
        ([*FILES, "--set-json=podSpec.containers=[]"], "containers"),
        ([*FILES, "--set-json=podSpec.volumes=[]"], "volumes"),
        ([*FILES, "--set=podSpec.securityContext.fsGroup=1"], "securityContext"),
        ([*FILES, "--set=autoscaling.maximum=3"], "maximum"),
    ],
)
def test_a_wrong_value_is_named(options: list[str], message: str) -> None:
    done = helm(*options)
    assert done.returncode != 0
    assert message in done.stderr


@pytest.mark.parametrize(
    "options", [[], FILES, [*FILES, EVERYTHING]], ids=["no values", "files", "everything"]
)
def test_helm_finds_nothing_wrong(options: list[str]) -> None:
    done = subprocess.run(
        ["helm", "lint", "--strict", str(K8S / "chart"), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout


def test_the_version_is_the_one_of_the_service() -> None:
    project = tomllib.loads((K8S.parent / "pyproject.toml").read_text())["project"]
    found = yaml.safe_load((K8S / "chart/Chart.yaml").read_text())
    assert found["appVersion"] == project["version"]
    assert found["version"] == project["version"].replace(".dev", "-dev")


def by_name(manifests: Manifests) -> dict[tuple[str, str], Manifest]:
    """Every manifest without what the two programs do differently: namespaces, and how a new setting rolls the pods."""
    found = {}
    for original in manifests.all:
        text = re.sub(
            r"token-service-config-\w{10}\b", "token-service-config", yaml.safe_dump(original)
        )
        manifest = yaml.safe_load(text)
        manifest["metadata"].pop("namespace", None)
        if manifest["kind"] == "Deployment":
            manifest["spec"]["template"]["metadata"].pop("annotations", None)
        found[manifest["kind"], manifest["metadata"]["name"]] = manifest
    return found
