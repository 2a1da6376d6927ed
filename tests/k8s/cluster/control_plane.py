"""A real API server on etcd, which admits, validates and stores what `kubectl` sends, and where asked its controllers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.driving.ports import lasting_ports
from tests.driving.program import SECONDS, eventually

TOKEN = "administrator"
CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "disruption-controller",
    "horizontal-pod-autoscaler-controller",
    "serviceaccount-controller",
    "node-lifecycle-controller",
)
STARTING = 180
"""Seconds that the API server may take to become ready on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """`kubectl` with the rights of an administrator."""

    kubeconfig: Path

    def kubectl(self, *arguments: str, given: str | None = None) -> str:
        """Return the output of a command, which must succeed without a warning."""
        done = self.attempt(*arguments, given=given)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return done.stdout

    def attempt(
        self, *arguments: str, given: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command that may fail."""
        return subprocess.run(
            ["kubectl", f"--kubeconfig={self.kubeconfig}", *arguments],
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def read(self, *arguments: str) -> dict[str, Any]:
        """Return an object, or a list of them, as the API server has it."""
        found: dict[str, Any] = json.loads(self.kubectl("get", *arguments, "--output=json"))
        return found

    def is_ready(self) -> bool:
        return self.attempt("get", "--raw=/readyz").returncode == 0


@contextmanager
def control_plane(folder: Path) -> Iterator[Cluster]:
    """Run etcd and the API server, with their files in a folder."""
    client, peer, port = lasting_ports(3)
    cluster = Cluster(kubeconfig=_kubeconfig(folder, port))
    with ExitStack() as running:
        running.enter_context(_running(folder, _etcd(folder, client, peer)))
        api_server = running.enter_context(_running(folder, _api_server(folder, client, port)))

        def is_ready() -> bool:
            assert api_server.poll() is None, (folder / "kube-apiserver.log").read_text()[-2000:]
            return cluster.is_ready()

        eventually(is_ready, STARTING)
        yield cluster


def _etcd(folder: Path, client: int, peer: int) -> Sequence[str]:
    return (
        "etcd",
        f"--data-dir={folder}/etcd",
        f"--listen-client-urls=http://127.0.0.1:{client}",
        f"--advertise-client-urls=http://127.0.0.1:{client}",
        f"--listen-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-cluster=default=http://127.0.0.1:{peer}",
        "--unsafe-no-fsync",
    )


def _api_server(folder: Path, etcd: int, port: int) -> Sequence[str]:
    key, tokens = folder / "service-accounts.key", folder / "tokens.csv"
    subprocess.run(["openssl", "genrsa", "-out", str(key)], check=True, capture_output=True)
    tokens.write_text(f"{TOKEN},administrator,0,system:masters\n")
    return (
        "kube-apiserver",
        f"--etcd-servers=http://127.0.0.1:{etcd}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={folder}/certificates",
        f"--token-auth-file={tokens}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
    )


def _kubeconfig(folder: Path, port: int) -> Path:
    server = {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "local", "cluster": server}],
        "users": [{"name": "administrator", "user": {"token": TOKEN}}],
        "contexts": [{"name": "local", "context": {"cluster": "local", "user": "administrator"}}],
        "current-context": "local",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


@contextmanager
def controllers(cluster: Cluster) -> Iterator[None]:
    """Run the scheduler, and the controllers that make and replace pods."""
    options = (f"--kubeconfig={cluster.kubeconfig}", "--leader-elect=false", "--secure-port=0")
    chosen = (f"--controllers={','.join(CONTROLLERS)}", "--node-monitor-grace-period=24h")
    folder = cluster.kubeconfig.parent
    with (
        _running(folder, ("kube-controller-manager", *options, *chosen)),
        _running(folder, ("kube-scheduler", *options)),
    ):
        yield


@contextmanager
def _running(folder: Path, command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{command[0]}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(SECONDS)
