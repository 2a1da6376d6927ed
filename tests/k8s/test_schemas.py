"""Kubernetes' API servers, and those of custom resources, would accept the manifests."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from tests.k8s.rendered import K8S, Manifest, Manifests

pytestmark = pytest.mark.needs("kustomize")

OLDEST, NEWEST = "1.30", "1.37"
"""Releases: preStop's sleep needs the first, and the last is the newest whose schemas are known."""

APART = [
    "overlays/prod/secret.example.yaml",
    "overlays/workloads/shop.yaml",
    "components/client-certificates/nginx/controller-headers.yaml",
]
"""Manifests that belong to no overlay."""

CUSTOM = {"ServiceMonitor", "PrometheusRule"}


@pytest.mark.parametrize("release", [OLDEST, NEWEST])
def test_every_manifest_has_the_form_of_its_kind(manifests: Manifests, release: str) -> None:
    for manifest in manifests.all:
        if manifest["kind"] not in CUSTOM:
            validate(manifest, release)


@pytest.mark.parametrize("file", APART)
def test_what_is_applied_apart_has_the_form_of_its_kind(file: str) -> None:
    manifest = yaml.safe_load((K8S / file).read_text())
    validate(manifest, NEWEST)


def test_a_word_that_kubernetes_does_not_know_is_found(prod: Manifests) -> None:
    misspelt = copy.deepcopy(prod.deployment())
    misspelt["spec"]["template"]["spec"]["automountServiceAccountTokens"] = False
    with pytest.raises(Exception, match="automountServiceAccountTokens") as refused:
        validate(misspelt, NEWEST)
    assert type(refused.value).__name__ == "ValidationError"


def test_every_name_is_taken_once(manifests: Manifests) -> None:
    names = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests.all]
    assert len(names) == len(set(names))


def test_everything_is_in_the_one_namespace(manifests: Manifests) -> None:
    (namespace,) = manifests.every("Namespace")
    others = [manifest for manifest in manifests.all if manifest is not namespace]
    assert {each["metadata"]["namespace"] for each in others} == {namespace["metadata"]["name"]}


def test_a_custom_resource_has_what_its_definition_requires(prod: Manifests) -> None:
    monitor = prod.one("ServiceMonitor", "token-service")
    assert monitor["apiVersion"] == "monitoring.coreos.com/v1"
    assert set(monitor["spec"]) == {"selector", "jobLabel", "endpoints"}
    assert [set(each) for each in monitor["spec"]["endpoints"]] == [{"port", "path", "interval"}]
    rules = prod.one("PrometheusRule", "token-service")
    assert rules["apiVersion"] == "monitoring.coreos.com/v1"
    assert [set(group) for group in rules["spec"]["groups"]] == [{"name", "rules"}]
    assert all(
        keys_of_an_alert(rule) for group in rules["spec"]["groups"] for rule in group["rules"]
    )


def validate(manifest: Manifest, release: str) -> None:
    """Import what does it late: that takes two seconds, in each process that only collects these tests."""
    import kubernetes_validate  # noqa: PLC0415

    kubernetes_validate.validate(manifest, release, strict=True)


def keys_of_an_alert(rule: dict[str, Any]) -> bool:
    return {"alert", "expr", "labels", "annotations"} <= set(rule) <= {
        "alert", "expr", "for", "labels", "annotations"
    }  # fmt: skip
