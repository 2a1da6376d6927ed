"""Nodes without a kubelet: a pod that is scheduled counts as running at once, and a deleted one has ended."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.k8s.cluster.control_plane import Cluster

READY = [{"type": type_, "status": "True"} for type_ in ("Initialized", "ContainersReady", "Ready")]


@contextmanager
def nodes(cluster: Cluster, *names: str) -> Iterator[None]:
    """Add nodes, and report the state of their pods until the end."""
    for name in names:
        cluster.kubectl("create", "--filename=-", given=json.dumps(_node(name)))
    ended = threading.Event()
    reporting = threading.Thread(target=_report, args=(cluster, ended))
    reporting.start()
    try:
        yield
    finally:
        ended.set()
        reporting.join()


def _node(name: str) -> dict[str, Any]:
    room = {"cpu": "8", "memory": "16Gi", "pods": "100"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def _report(cluster: Cluster, ended: threading.Event) -> None:
    while not ended.wait(0.1):
        for pod in cluster.read("pods", "--all-namespaces")["items"]:
            name = (pod["metadata"]["name"], f"--namespace={pod['metadata']['namespace']}")
            if "deletionTimestamp" in pod["metadata"]:
                cluster.attempt("delete", "pod", *name, "--grace-period=0", "--force")
            elif "nodeName" in pod["spec"] and pod["status"]["phase"] == "Pending":
                status = json.dumps({"status": {"phase": "Running", "conditions": READY}})
                cluster.attempt("patch", "pod", *name, "--subresource=status", f"--patch={status}")
