"""Clients may register for certificates where these can reach the service (RFC 8705 §2.1.2, §2.2.2, §3.4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.authority import Certified, self_signed
from tests.driving.registering import register
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("8705#3.4", "7591#2")

OWN = self_signed("CN=anything")
METADATA: dict[str, dict[str, Any]] = {
    "of an authority": {
        "token_endpoint_auth_method": "tls_client_auth",
        "tls_client_auth_subject_dn": "CN=shop,O=Example",
    },
    "self-signed": {
        "token_endpoint_auth_method": "self_signed_tls_client_auth",
        "jwks": {"keys": [OWN.jwk]},
    },
}
BOUND = {"tls_client_certificate_bound_access_tokens": True}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    return config


def machine(**metadata: Any) -> dict[str, Any]:
    return {"grant_types": ["client_credentials"], "response_types": [], **metadata}


@pytest.mark.parametrize("kind", METADATA)
async def test_a_registered_client_authenticates_by_its_certificate(
    service: RunningService, shop: Certified, kind: str
) -> None:
    registered = await register(service, **machine(**METADATA[kind], **BOUND))
    assert registered.status == 201
    assert "client_secret" not in registered.json
    form = {"grant_type": "client_credentials", "scope": "api1"}
    shown = shop if kind == "of an authority" else OWN
    answer = await service.post(
        "/connect/token", headers=shown.headers(), client_id=registered["client_id"], **form
    )
    assert claims_in(answer["access_token"])["cnf"] == {"x5t#S256": shown.thumbprint}
    another = await service.post(
        "/connect/token",
        headers=self_signed("CN=shop,O=Example").headers(),
        client_id=registered["client_id"],
        **form,
    )
    assert another.refusal == (401, "invalid_client")


@pytest.mark.parametrize("kind", [*METADATA, "bound"])
async def test_what_needs_a_certificate_is_refused_where_none_can_come(
    start: Start, config: dict[str, Any], kind: str
) -> None:
    config["clients"].pop()
    config["server"] = {}
    service = await start(config)
    answer = await register(service, **machine(**METADATA.get(kind, BOUND)))
    assert answer.refusal == (400, "invalid_client_metadata")
