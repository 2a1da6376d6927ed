"""The Ingress reaches the public port, Prometheus the management port, and no other connection is allowed."""

from __future__ import annotations

import pytest

from tests.k8s.rendered import Manifest, Manifests, rendered, selected

pytestmark = pytest.mark.needs("kustomize")


def test_a_service_finds_its_pods_and_their_ports(manifests: Manifests) -> None:
    workloads = manifests.every("Deployment", "StatefulSet")
    for service in manifests.every("Service"):
        selector = service["spec"]["selector"]
        (template,) = (
            each["spec"]["template"]
            for each in workloads
            if selected(each["spec"]["template"]["metadata"]["labels"], {"matchLabels": selector})
        )
        (container,) = template["spec"]["containers"]
        ports = {port["name"] for port in container["ports"]}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports


def test_no_way_from_outside_leads_to_the_metrics(manifests: Manifests) -> None:
    for ingress in manifests.every("Ingress"):
        backends = [path["backend"]["service"] for path in paths(ingress)]
        for backend in backends:
            ports = manifests.one("Service", backend["name"])["spec"]["ports"]
            (port,) = (each for each in ports if each["name"] == backend["port"]["name"])
            assert port["targetPort"] == "http"
    assert {each["spec"].get("type", "ClusterIP") for each in manifests.every("Service")} == {
        "ClusterIP"
    }


def test_no_service_leads_to_the_admin_listener(manifests: Manifests) -> None:
    ports = {
        port["targetPort"] for each in manifests.every("Service") for port in each["spec"]["ports"]
    }
    assert ports <= {"http", "https", "management", "redis", "mtls"}


def test_the_ingress_ends_tls_for_every_host_of_the_issuer() -> None:
    (ingress,) = rendered("prod").every("Ingress")
    hosts = {rule["host"] for rule in ingress["spec"]["rules"]}
    assert hosts == {host for entry in ingress["spec"]["tls"] for host in entry["hosts"]}
    assert hosts == {"login.example.com"}


def test_every_pod_is_closed_but_for_what_a_policy_opens(manifests: Manifests) -> None:
    closed = manifests.one("NetworkPolicy", "nothing-else")["spec"]
    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_each_port_is_open_to_its_namespaces_only(manifests: Manifests) -> None:
    rules = manifests.one("NetworkPolicy", "token-service")["spec"]["ingress"]
    opened = {port["port"]: namespaces(rule) for rule in rules for port in rule["ports"]}
    name, client = "kubernetes.io/metadata.name", "token-service/client"
    assert opened == {
        "http": [{name: "ingress"}, {client: "true"}],
        "management": [{name: "monitoring"}],
    }


def test_no_manifest_leaves_a_value_to_the_server_that_makes_each_apply_a_change(
    manifests: Manifests,
) -> None:
    for policy in manifests.every("NetworkPolicy"):
        spec = policy["spec"]
        for rule in [*spec.get("ingress", ()), *spec.get("egress", ())]:
            assert all("protocol" in port for port in rule["ports"])
    assert manifests.deployment()["spec"]["strategy"]["type"] == "RollingUpdate"


def test_a_pod_reaches_names_redis_and_the_web(manifests: Manifests) -> None:
    labels = manifests.pod()["metadata"]["labels"]
    ports = {
        port["port"]
        for policy in manifests.every("NetworkPolicy")
        if selected(labels, policy["spec"]["podSelector"])
        for rule in policy["spec"].get("egress", ())
        for port in rule["ports"]
    }
    volumes = {each["name"] for each in manifests.pod()["spec"]["volumes"]}
    api_server = {6443} if "cluster" in volumes else set[int]()
    assert ports - {6379, 6380} == {53, 443} | api_server
    assert len(ports & {6379, 6380}) == 1


def test_redis_is_for_the_service_alone() -> None:
    policy = rendered("dev").one("NetworkPolicy", "redis")["spec"]
    (rule,) = policy["ingress"]
    (peer,) = rule["from"]
    assert peer["podSelector"]["matchLabels"] == rendered("dev").pod()["metadata"]["labels"]


def paths(ingress: Manifest) -> list[Manifest]:
    return [path for rule in ingress["spec"]["rules"] for path in rule["http"]["paths"]]


def namespaces(rule: Manifest) -> list[Manifest]:
    """The labels of the namespaces that a rule lets in."""
    return [peer["namespaceSelector"]["matchLabels"] for peer in rule["from"]]
