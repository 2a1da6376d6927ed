"""Renders an overlay by kustomize, and one with further components."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

K8S = Path(__file__).parents[2] / "k8s"

COMBINATIONS = {
    "dev": ("dev",),
    "dev, watched": ("dev", "monitoring"),
    "dev, scaled": ("dev", "autoscaling"),
    "workloads": ("workloads",),
    "prod": ("prod",),
    "prod, scaled on requests": ("prod", "autoscaling-on-requests"),
    "prod, certificates by haproxy": ("prod", "client-certificates/haproxy"),
    "prod, certificates by nginx": ("prod", "client-certificates/nginx"),
    "prod, all": ("prod", "autoscaling-on-requests", "client-certificates/haproxy", "workloads"),
}
"""Overlays with the components that they do not have by themselves."""

NAMESPACES = {"dev": "token-service-dev", "workloads": "token-service-dev", "prod": "token-service"}

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Manifests:
    """All that `kubectl apply -k` would send."""

    all: tuple[Manifest, ...]

    def every(self, *kinds: str) -> list[Manifest]:
        return [manifest for manifest in self.all if manifest["kind"] in kinds]

    def one(self, kind: str, name: str) -> Manifest:
        (found,) = (each for each in self.every(kind) if each["metadata"]["name"] == name)
        return found

    def deployment(self) -> Manifest:
        return self.one("Deployment", "token-service")

    def pod(self) -> Manifest:
        """The service's pod template."""
        template: Manifest = self.deployment()["spec"]["template"]
        return template

    def container(self) -> Manifest:
        """The one container of the service's pods."""
        (container,) = self.pod()["spec"]["containers"]
        found: Manifest = container
        return found


@functools.cache
def rendered(combination: str) -> Manifests:
    """The manifests of one of the combinations."""
    overlay, *_ = COMBINATIONS[combination]
    with tempfile.TemporaryDirectory() as folder:
        write_kustomization(Path(folder), combination, NAMESPACES[overlay])
        built = subprocess.run(
            ["kustomize", "build", folder], capture_output=True, text=True, check=False
        )
    assert (built.returncode, built.stderr) == (0, ""), built.stderr
    return Manifests(tuple(yaml.safe_load_all(built.stdout)))


def write_kustomization(folder: Path, combination: str, namespace: str) -> None:
    """Make a folder an overlay: one of the combinations in a namespace."""
    overlay, *components = COMBINATIONS[combination]
    kustomization = {
        "namespace": namespace,
        "resources": [os.path.relpath(K8S / "overlays" / overlay, folder)],
        "components": [os.path.relpath(K8S / "components" / each, folder) for each in components],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))


def selected(labels: Manifest, selector: Manifest) -> bool:
    """Whether a selector means what has these labels; an empty one means everything."""
    return bool(selector.get("matchLabels", {}).items() <= labels.items())


def workloads(manifests: Manifests) -> Iterator[tuple[Manifest, Manifest]]:
    """Every pod template with its one container."""
    for workload in manifests.every("Deployment", "StatefulSet"):
        template = workload["spec"]["template"]
        (container,) = template["spec"]["containers"]
        yield template, container
