"""The API server, and each overlay with its components as a folder to apply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.k8s.cluster.control_plane import Cluster, control_plane
from tests.k8s.rendered import COMBINATIONS, Manifests, rendered, write_kustomization


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A folder for `kubectl apply -k`, and the namespace that it fills."""

    folder: str
    namespace: str
    manifests: Manifests


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with control_plane(tmp_path_factory.mktemp("control-plane")) as running:
        definitions = str(Path(__file__).with_name("definitions.yaml"))
        running.kubectl("apply", f"--filename={definitions}")
        running.kubectl("wait", "--for=condition=Established", "crd", "--all")
        yield running


@pytest.fixture(params=list(COMBINATIONS))
def overlay(request: pytest.FixtureRequest, tmp_path: Path) -> Overlay:
    """Each combination in turn, in a namespace that no other test uses."""
    return new_overlay(request.param, request.node.name, tmp_path)


def new_overlay(combination: str, test: str, folder: Path) -> Overlay:
    namespace = re.sub(r"\W+|_+", "-", test)[-60:].strip("-")
    write_kustomization(folder, combination, namespace)
    return Overlay(folder=str(folder), namespace=namespace, manifests=rendered(combination))
