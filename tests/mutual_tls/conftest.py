"""Clients with certificates, behind a trusted proxy that passes them on by RFC 9440."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.authority import Certified, root
from tests.driving.registry import client_in

SUBJECT = "CN=shop,O=Example"


@pytest.fixture(scope="session")
def authority() -> Certified:
    """The authority that the service accepts."""
    return root()


@pytest.fixture(scope="session")
def authority_file(authority: Certified, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Its certificate."""
    file = tmp_path_factory.mktemp("authority") / "ca.pem"
    file.write_text(authority.pem)
    return str(file)


@pytest.fixture(scope="session")
def shop(authority: Certified) -> Certified:
    """The certificate of the client `shop`."""
    return authority.issue(SUBJECT)


def certified_client(config: dict[str, Any], client_id: str, **keys: Any) -> None:
    """Add a client that gets tokens for itself, by tls_client_auth where nothing else is said."""
    machine = client_in(config, "machine") | {"client_secrets": [], "client_id": client_id}
    config["clients"].append(machine | {"token_endpoint_auth_method": "tls_client_auth"} | keys)


@pytest.fixture
def config(config: dict[str, Any], authority_file: str) -> dict[str, Any]:
    """The client `shop`, which is known by the subject of its certificate."""
    config["server"] = {
        "trusted_proxies": ["127.0.0.1"],
        "client_certificate_header": "Client-Cert",
    }
    config["mtls"] = {"client_ca": authority_file}
    certified_client(config, "shop", tls_client_auth_subject_dn=SUBJECT)
    return config
