"""Prometheus finds the metrics, alerts fire when they should, and the dashboard shows what there is."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documentation.reading import REPOSITORY, blocks, headings
from tests.k8s import promtool
from tests.k8s.rendered import K8S, rendered, selected

pytestmark = pytest.mark.needs("kustomize", "promtool")

STORIES = Path(__file__).parent / "alert_stories.yaml"
INTERVAL = "$__rate_interval"
RUNBOOK, KUBERNETES = REPOSITORY / "docs/runbook.md", REPOSITORY / "docs/kubernetes.md"
RUNBOOK_URL = "https://token-service.example/docs/runbook.md"


def groups() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rendered("prod").one("PrometheusRule", "token-service")["spec"][
        "groups"
    ]
    return found


def alerts() -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for group in groups() for rule in group["rules"]}


def without_annotations(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rules alone, so that a story need not repeat every word."""
    return [
        group
        | {
            "rules": [
                {k: v for k, v in rule.items() if k != "annotations"} for rule in group["rules"]
            ]
        }
        for group in groups
    ]


def dashboard() -> dict[str, Any]:
    config = rendered("prod").one("ConfigMap", "token-service-dashboard")
    found: dict[str, Any] = json.loads(config["data"]["token-service.json"])
    return found


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def queries() -> list[str]:
    return [target["expr"] for panel in panels() for target in panel["targets"]]


def test_promtool_accepts_the_alerts(tmp_path: Path) -> None:
    promtool.checked(tmp_path, groups())


def test_an_alert_fires_in_its_story_and_not_before(tmp_path: Path) -> None:
    rules = promtool.checked(tmp_path, without_annotations(groups()))
    stories = yaml.safe_load(STORIES.read_text())
    stories["rule_files"] = [str(rules)]
    told = tmp_path / "stories.yaml"
    told.write_text(yaml.safe_dump(stories))
    promtool.tested(told)


def test_every_alert_has_a_story_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    tests = [
        test
        for story in yaml.safe_load(STORIES.read_text())["tests"]
        for test in story["alert_rule_test"]
    ]
    assert {test["alertname"] for test in tests if test["exp_alerts"]} == set(alerts())
    assert {test["alertname"] for test in tests if not test["exp_alerts"]} == set(alerts())


def test_an_alert_says_how_bad_it_is_and_what_to_do() -> None:
    assert {alert["labels"]["severity"] for alert in alerts().values()} == {"critical", "warning"}
    for alert in alerts().values():
        assert set(alert["annotations"]) == {"summary", "description", "runbook_url"}


def test_the_runbook_has_a_section_for_every_alert_and_no_other() -> None:
    urls = {name: alert["annotations"]["runbook_url"] for name, alert in alerts().items()}
    assert urls == {name: f"{RUNBOOK_URL}#{name.lower()}" for name in alerts()}
    assert headings(RUNBOOK) == list(alerts())


@pytest.mark.needs("kustomize")
def test_the_address_of_the_runbook_is_replaced_as_the_page_says(tmp_path: Path) -> None:
    shutil.copytree(K8S, tmp_path / "k8s")
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    (replacement,) = [block.text for block in blocks(KUBERNETES) if "runbook_url" in block.text]
    (overlay / "kustomization.yaml").write_text(f"resources: [../k8s/overlays/prod]\n{replacement}")
    done = subprocess.run(
        ["kustomize", "build", str(overlay)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.count("runbook_url: https://wiki.example.com/runbook#") == len(alerts())
    assert RUNBOOK_URL not in done.stdout


def test_alerts_and_dashboard_ask_only_for_what_the_service_measures(measured: str) -> None:
    asked = set(
        re.findall(r"(?:token_service|process)_\w+", " ".join([*alert_queries(), *queries()]))
    )
    series = {re.split(r"[{ ]", line)[0] for line in measured.splitlines() if line[:1] != "#"}
    families = {line.split()[2] for line in measured.splitlines() if line.startswith("# TYPE")}
    buckets = {f"{family}_bucket" for family in families}
    assert asked - series - families - buckets == set()


def test_an_alert_names_endpoints_that_are_there(measured: str) -> None:
    (named,) = re.findall(r'endpoint=~"([^"]+)"', alerts()["TokenServiceSlow"]["expr"])
    seen = set(re.findall(r'endpoint="([^"]+)"', measured))
    assert {one for one in seen if re.fullmatch(named, one)} == {
        "/connect/token",
        "/connect/introspect",
    }


def alert_queries() -> list[str]:
    return [alert["expr"] for alert in alerts().values()]


def test_promtool_reads_every_query_of_the_dashboard(tmp_path: Path) -> None:
    promtool.parsed(tmp_path, [query.replace(INTERVAL, "5m") for query in queries()])


def test_every_panel_asks_the_data_source_of_the_dashboard() -> None:
    variables = {each["name"]: each for each in dashboard()["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    for panel in panels():
        sources = [panel["datasource"], *(each["datasource"] for each in panel["targets"])]
        assert {source["uid"] for source in sources} == {"${datasource}"}
        assert panel["title"]
        assert panel["description"]


def test_every_query_is_about_the_chosen_pods() -> None:
    variables = {each["name"]: each for each in dashboard()["templating"]["list"]}
    assert variables["pod"]["multi"]
    assert variables["pod"]["includeAll"]
    for query in queries():
        assert query.count('pod=~"$pod"') == query.count('namespace="$namespace"')


@pytest.mark.parametrize(
    ("title", "alert"),
    [
        ("Failed requests", "TokenServiceFails"),
        ("p99 latency", "TokenServiceSlow"),
        ("Redis outage", "TokenServiceStoreAway"),
        ("Redis latency", "TokenServiceStoreSlow"),
        ("Signing key age", "TokenServiceKeyTooOld"),
        ("Back-channel logout", "TokenServiceLogoutsWait"),
    ],
)
def test_a_panel_shows_the_threshold_of_its_alert(title: str, alert: str) -> None:
    (panel,) = [each for each in panels() if each["title"] == title]
    defaults = panel["fieldConfig"]["defaults"]
    limit = alerts()[alert]["expr"].rpartition(">")[2]
    assert defaults["thresholds"]["steps"][-1]["value"] == math.prod(map(float, limit.split("*")))
    assert defaults["custom"]["thresholdsStyle"]["mode"] != "off"


def test_the_dashboard_shows_each_metric_of_webhooks_that_an_alert_asks_for() -> None:
    asked = " ".join(str(rule["expr"]) for rule in alerts().values())
    metrics = set(re.findall(r"token_service_webhooks?_\w+", asked))
    assert len(metrics) == 6
    assert metrics <= set(re.findall(r"\w+", " ".join(queries())))


def test_panels_have_their_own_place_and_number() -> None:
    every = dashboard()["panels"]
    assert len({panel["id"] for panel in every}) == len(every)
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in every]
    assert len(set(places)) == len(places)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in every)


def test_every_query_is_about_the_job_that_the_monitor_names() -> None:
    assert [query for query in queries() if 'job="token-service"' not in query] == []
    monitor = rendered("prod").one("ServiceMonitor", "token-service")["spec"]
    service = rendered("prod").one("Service", "token-service-management")
    assert service["metadata"]["labels"][monitor["jobLabel"]] == "token-service"


def test_the_monitor_finds_the_service_and_its_port() -> None:
    monitor = rendered("prod").one("ServiceMonitor", "token-service")["spec"]
    service = rendered("prod").one("Service", "token-service-management")
    assert selected(service["metadata"]["labels"], monitor["selector"])
    (endpoint,) = monitor["endpoints"]
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}


def test_grafana_finds_the_dashboard() -> None:
    config = rendered("prod").one("ConfigMap", "token-service-dashboard")
    assert config["metadata"]["labels"]["grafana_dashboard"] == "1"
