"""docs/kubernetes.md says what is so: its secrets fit, its adapter serves what is asked for, its releases are those tried."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.k8s import promtool
from tests.k8s.rendered import K8S, rendered
from tests.k8s.running_pod import COMMAND, SECRETS
from tests.k8s.test_schemas import NEWEST, OLDEST

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "kubernetes.md").read_text()


def block(language: str, word: str, page: str = PAGE) -> str:
    """The one block of code of a page with a word in it."""
    blocks = re.findall(rf"^```{language}\n(.*?)```$", page, re.MULTILINE | re.DOTALL)
    (found,) = (each for each in blocks if word in each)
    return str(found)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of k8s/ as somebody has checked it out."""
    shutil.copytree(K8S, tmp_path / "here/k8s")
    return tmp_path / "here"


def done(commands: str, folder: Path) -> str:
    """The output of the page's commands, but for those of programs that are not here."""
    absent = "kubectl() { :; }; token-service() { " + f'"{COMMAND}" "$@"; ' + "}\n"
    told = subprocess.run(
        ["bash", "-ec", absent + commands],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


@pytest.mark.needs("openssl")
def test_the_overlay_passes_its_check_with_the_secrets_that_the_page_makes(
    repository: Path, tmp_path: Path
) -> None:
    done(block("bash", "openssl"), repository)
    shutil.copytree(repository / "k8s", tmp_path / "released/k8s")
    assert "error" not in done(block("bash", "token-service check"), repository)


@pytest.mark.needs("openssl")
def test_the_overlay_passes_its_check_with_the_secrets_for_compose(repository: Path) -> None:
    done(block("bash", "openssl", (DOCS / "containers.md").read_text()), repository)
    assert "error" not in done(
        "token-service check k8s/overlays/dev/config/config.yaml", repository
    )


@pytest.mark.needs("openssl")
def test_the_secrets_that_it_makes_are_those_that_the_overlay_wants(repository: Path) -> None:
    done(block("bash", "openssl"), repository)
    made = repository / "k8s/overlays/dev/secrets"
    assert {each.name for each in made.iterdir()} == set(SECRETS)
    assert set(re.findall(r"secrets/([\w.-]+)\}", settings("dev"))) == set(SECRETS)


def test_the_secret_example_has_what_the_overlay_wants() -> None:
    example = yaml.safe_load((K8S / "overlays/prod/secret.example.yaml").read_text())
    wanted = re.findall(r"/secrets/([\w.-]+)", settings("prod"))
    assert set(example["stringData"]) == set(wanted)


def settings(overlay: str) -> str:
    return (K8S / "overlays" / overlay / "config/config.yaml").read_text()


@pytest.mark.needs("kustomize", "promtool")
def test_the_adapter_serves_the_metric_that_the_autoscaler_asks_for(
    measured: str, tmp_path: Path
) -> None:
    (rule,) = yaml.safe_load(block("yaml", "seriesQuery"))["rules"]
    series = re.sub(r"\{.*", "", rule["seriesQuery"])
    scaling = rendered("prod, all").one("HorizontalPodAutoscaler", "token-service")["spec"]
    asked = [each["pods"]["metric"]["name"] for each in scaling["metrics"] if "pods" in each]
    assert [re.sub(rule["name"]["matches"], rule["name"]["as"], series)] == asked
    assert f"\n{series}{{" in measured
    filled = {"<<.GroupBy>>": "pod", "<<.Series>>": series, "<<.LabelMatchers>>": 'pod="a"'}
    query = re.sub("<<.*?>>", lambda found: filled[found[0]], rule["metricsQuery"])
    promtool.parsed(tmp_path, [query])


def test_the_releases_are_those_that_were_tried() -> None:
    assert f"Kubernetes {OLDEST} and {NEWEST}" in PAGE
    assert f"from Kubernetes {OLDEST} on" in PAGE
