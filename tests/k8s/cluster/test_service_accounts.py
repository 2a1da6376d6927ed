"""Tokens that a real API server makes (TokenRequest) authenticate pods, by the keys that it publishes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.protocol.token_types import CLIENT_ASSERTION
from tests.conftest import Start
from tests.driving.service import RunningService
from tests.k8s.cluster.control_plane import Cluster
from tests.workloads.conftest import workload_client

pytestmark = pytest.mark.needs("kubectl", "kube-apiserver", "etcd", "openssl")

AUDIENCE = "token-service"
NAMESPACE = "bound-tokens"
"""The namespace shop is that of the demonstration overlay, which other tests apply."""
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "cart-1", "namespace": NAMESPACE},
    "spec": {"serviceAccountName": "cart", "containers": [{"name": "cart", "image": "cart"}]},
}


@pytest.fixture(scope="session")
def shop(cluster: Cluster) -> Cluster:
    """The namespace with a service account and its pod."""
    cluster.kubectl("create", "namespace", NAMESPACE)
    for name in ("cart", "token-service"):
        cluster.kubectl("create", "serviceaccount", name, f"--namespace={NAMESPACE}")
    cluster.kubectl("create", "--filename=-", given=json.dumps(POD))
    return cluster


def token_of(shop: Cluster, *arguments: str) -> str:
    return shop.kubectl("create", "token", f"--namespace={NAMESPACE}", *arguments).strip()


@pytest.fixture
async def service(
    shop: Cluster, start: Start, config: dict[str, Any], tmp_path: Path
) -> RunningService:
    """A service that reads the keys of the API server with a token and the authority of its own."""
    kubeconfig = yaml.safe_load(shop.kubeconfig.read_text())
    (tmp_path / "token").write_text(token_of(shop, "token-service"))
    config["clients"].append(workload_client("shop-workload", template=True))
    config["workload_issuers"] = [
        {
            "name": "cluster",
            "kind": "kubernetes",
            "issuer": "https://kubernetes.default.svc",
            "jwks_uri": kubeconfig["clusters"][0]["cluster"]["server"] + "/openid/v1/jwks",
            "ca_file": str(shop.kubeconfig.parent / "certificates" / "apiserver.crt"),
            "token_file": str(tmp_path / "token"),
            "audience": AUDIENCE,
            "rules": [
                {
                    "subject": f"system:serviceaccount:{NAMESPACE}:*",
                    "client_id": "shop.{name}",
                    "template": "shop-workload",
                }
            ],
        }
    ]
    return await start(config)


async def ask(service: RunningService, token: str) -> Any:
    form = {"client_assertion_type": CLIENT_ASSERTION, "client_assertion": token}
    return await service.token(None, grant_type="client_credentials", scope="api1", **form)


@pytest.mark.usefixtures("one_store")
async def test_a_pod_gets_a_token_and_its_name_is_logged(
    service: RunningService, shop: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    bound = ("--bound-object-kind=Pod", "--bound-object-name=cart-1")
    answer = await ask(service, token_of(shop, "cart", f"--audience={AUDIENCE}", *bound))
    assert (await service.introspect(answer["access_token"]))["client_id"] == "shop.cart"
    assert '"pod":"cart-1"' in capsys.readouterr().err


@pytest.mark.usefixtures("one_store")
async def test_a_token_for_the_api_server_is_refused(
    service: RunningService, shop: Cluster
) -> None:
    assert (await ask(service, token_of(shop, "cart"))).refusal == (401, "invalid_client")
