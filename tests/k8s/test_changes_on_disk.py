"""Files that a kubelet swaps under a running pod are taken, without a restart and all or nothing."""

from __future__ import annotations

import base64
import hashlib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.driving.certificate import certified
from tests.driving.program import eventually
from tests.k8s.overlays_redis import redis_of_dev
from tests.k8s.rendered import rendered
from tests.k8s.running_pod import SECRETS, Pod, pod_running

pytestmark = pytest.mark.needs("kustomize", "redis-server")

CLIENT = """\
clients:
  - client_id: newcomer
    client_secrets: [{sha256: "${file:../secrets/newcomer}"}]
    allowed_grant_types: [client_credentials]
    allowed_scopes: [api1]
"""


def hashed(secret: str) -> str:
    return base64.b64encode(hashlib.sha256(secret.encode()).digest()).decode()


@contextmanager
def running(folder: Path, *, secrets: dict[str, str], **replaced: str) -> Iterator[Pod]:
    """A pod of the overlay `dev` with further secrets."""
    (folder / "redis").mkdir()
    with (
        redis_of_dev(folder / "redis") as address,
        pod_running(
            folder / "pod",
            rendered("dev"),
            replaced={"redis:6379": address, **replaced},
            secrets={**SECRETS, **secrets},
        ) as pod,
    ):
        eventually(lambda: pod.probe("readinessProbe") == 200)
        yield pod


def registry(pod: Pod) -> dict[str, str]:
    """The ConfigMap of the registry."""
    data: dict[str, str] = pod.mounted.manifests.one("ConfigMap", "token-service-registry")["data"]
    return dict(data)


def status(pod: Pod, secret: str) -> int:
    """The response to the new client with a secret."""
    client = {"client_id": "newcomer", "client_secret": secret}
    return pod.token(grant_type="client_credentials", **client)[0]


def test_a_client_comes_with_the_configmap_and_changes_its_secret_with_the_secret(
    tmp_path: Path,
) -> None:
    with running(tmp_path, secrets={"newcomer": hashed("first")}) as pod:
        assert status(pod, "first") == 401
        pod.mounted.update("registry", {**registry(pod), "newcomer.yaml": CLIENT})
        eventually(lambda: status(pod, "first") == 200)
        pod.mounted.update("secrets", {**SECRETS, "newcomer": hashed("second")})
        eventually(lambda: status(pod, "second") == 200)
        assert status(pod, "first") == 401


def test_a_registry_with_an_error_changes_nothing_and_is_counted(tmp_path: Path) -> None:
    with running(tmp_path, secrets={}) as pod:
        broken = {**registry(pod), "clients.yaml": "clients: [{client_id: 1, nonsense: 2}]\n"}
        pod.mounted.update("registry", broken)
        pod.program.event("registry_reload_refused")
        machine = {"client_id": "machine", "client_secret": "machine-secret"}
        assert pod.token(grant_type="client_credentials", **machine)[0] == 200
        assert b"registry_reload_failures_total 1.0" in pod.ask("management", "/metrics")[1]


def test_a_renewed_certificate_is_shown_to_the_next_connection(tmp_path: Path) -> None:
    first, second = (certificate(tmp_path / name) for name in ("first", "second"))
    folder = f"{tmp_path}/pod/etc/token-service/secrets"
    tls = f"server:\n  tls: {{certificate: {folder}/tls.crt, private_key: {folder}/tls.key}}\n"
    pair = {"tls.crt": first, "tls.key": first}
    with running(tmp_path, secrets=pair, **{"server:\n": tls}) as pod:
        assert shown(pod) in first
        pod.mounted.update("secrets", {**SECRETS, "tls.crt": second, "tls.key": second})
        eventually(lambda: shown(pod) in second)


def certificate(folder: Path) -> str:
    """A certificate with its key."""
    folder.mkdir()
    return certified(folder).read_text()


def shown(pod: Pod) -> str:
    """The certificate that the service shows."""
    return ssl.get_server_certificate(("127.0.0.1", pod.ports[8080])).strip()
