"""A cluster, a trust domain and a CI system whose workloads are clients and APIs here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.driving.listening import listening
from tests.driving.service import RunningService
from tests.workloads.platform import BUNDLE, CI, JWKS, TRUST_DOMAIN, Platform, Workload, pod

CLUSTER_TOKEN = "the-token-of-this-service-itself"


@pytest.fixture
async def platform() -> AsyncIterator[Platform]:
    """The platform that all three kinds of issuers here have behind them."""
    platform = Platform()
    async with listening(platform.serve) as origin:
        platform.origin = origin
        yield platform


def workload_client(client_id: str, **changes: Any) -> dict[str, Any]:
    """A client without any secret."""
    return {
        "client_id": client_id,
        "allowed_grant_types": ["client_credentials"],
        "allowed_scopes": ["api1"],
        **changes,
    }


@pytest.fixture
def issuer() -> dict[str, Any]:
    """Changes of the cluster's entry; a test module has a fixture of the same name."""
    return {}


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    """The token of the service itself in the cluster."""
    file = tmp_path / "token"
    file.write_text(CLUSTER_TOKEN + "\n")
    return file


@pytest.fixture
def config(
    config: dict[str, Any], platform: Platform, issuer: dict[str, Any], token_file: Path
) -> dict[str, Any]:
    """No client and no API of these has a secret."""
    config["clients"] += [
        workload_client("checkout", token_endpoint_auth_method="workload"),
        workload_client("deployer"),
        workload_client("shop-workload", template=True, access_token_type="reference"),
    ]
    config["api_resources"].append({"name": "orders", "scopes": ["orders"]})
    config["clients"][-1]["allowed_scopes"] = ["api1", "orders"]
    cluster = {
        "name": "cluster",
        "kind": "kubernetes",
        "issuer": platform.origin,
        "token_file": str(token_file),
        "rules": [
            {"subject": "system:serviceaccount:shop:checkout", "client_id": "checkout"},
            {
                "subject": "system:serviceaccount:shop:*",
                "client_id": "shop.{name}",
                "template": "shop-workload",
            },
            {"subject": "system:serviceaccount:apis:orders", "api_resource": "orders"},
        ],
    }
    spire = {
        "name": "spire",
        "kind": "spiffe",
        "trust_domain": TRUST_DOMAIN,
        "bundle_endpoint_url": platform.origin + BUNDLE,
        "rules": [
            {"subject": f"spiffe://{TRUST_DOMAIN}/shop/checkout", "client_id": "checkout"},
            {
                "subject": f"spiffe://{TRUST_DOMAIN}/ns/*/sa/*",
                "client_id": "spiffe:{path}",
                "template": "shop-workload",
            },
        ],
    }
    ci = {
        "name": "ci",
        "kind": "oidc",
        "issuer": CI,
        "jwks_uri": platform.origin + JWKS,
        "rules": [
            {
                "subject": "repo:acme/shop:ref:refs/heads/*",
                "claims": {"repository": "acme/shop", "attempt": 1},
                "client_id": "ci.{sub}",
                "template": "shop-workload",
            },
            {"claims": {"repository": "acme/deploy", "protected": True}, "client_id": "deployer"},
        ],
    }
    config["workload_issuers"] = [cluster | issuer, spire, ci]
    return config


@pytest.fixture
def checkout(service: RunningService, platform: Platform) -> Workload:
    """A pod that is a client of the registry."""
    return pod(service, platform, "shop", "checkout")


@pytest.fixture
def cart(service: RunningService, platform: Platform) -> Workload:
    """A pod whose client is made by a rule."""
    return pod(service, platform, "shop", "cart")


@pytest.fixture
def orders(service: RunningService, platform: Platform) -> Workload:
    """A pod that is an API."""
    return pod(service, platform, "apis", "orders")
