"""The number of pods follows the CPU, and the requests where an adapter serves their rate."""

from __future__ import annotations

from typing import Any

import pytest

from tests.k8s.rendered import Manifests, rendered

pytestmark = pytest.mark.needs("kustomize")


def test_no_apply_changes_the_number_of_pods(manifests: Manifests) -> None:
    assert "replicas" not in manifests.deployment()["spec"]


def test_the_autoscaler_sets_the_number_of_the_deployment() -> None:
    target = rendered("prod").one("HorizontalPodAutoscaler", "token-service")["spec"]
    assert target["scaleTargetRef"] == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "token-service",
    }


def test_the_autoscaler_looks_at_the_cpu_that_the_pods_ask_for() -> None:
    assert [each["type"] for each in metrics("prod")] == ["Resource"]
    assert (
        metrics("prod")[0]["resource"]["name"]
        in (rendered("prod").container()["resources"]["requests"])
    )


def test_requests_are_shown_with_the_cpu() -> None:
    both = metrics("prod, scaled on requests")
    assert [each["type"] for each in both] == ["Resource", "Pods"]


def test_there_are_as_many_pods_as_a_disruption_may_take_and_one() -> None:
    scaling = rendered("prod").one("HorizontalPodAutoscaler", "token-service")["spec"]
    budget = rendered("prod").one("PodDisruptionBudget", "token-service")["spec"]
    assert scaling["minReplicas"] > budget["maxUnavailable"]


def metrics(combination: str) -> list[dict[str, Any]]:
    scaling = rendered(combination).one("HorizontalPodAutoscaler", "token-service")
    found: list[dict[str, Any]] = scaling["spec"]["metrics"]
    return found
