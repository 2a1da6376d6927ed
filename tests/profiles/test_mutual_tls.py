"""A client of FAPI 2.0 may use its certificate for both, authentication and bound tokens (FAPI 2.0 Security Profile §5.3.2.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.authority import self_signed
from tests.driving.service import RunningService, claims_in

pytestmark = [
    pytest.mark.rfc("fapi2#5.3.2.1"),
    pytest.mark.profile("client_authentication", "bound_tokens"),
]

OWN, OTHER = self_signed("CN=certified"), self_signed("CN=other")
FORM = {"client_id": "certified", "grant_type": "client_credentials", "scope": "api2"}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The client has a certificate, and no other credential."""
    config["server"] = {
        "trusted_proxies": ["127.0.0.1"],
        "client_certificate_header": "Client-Cert",
    }
    config["clients"].append(
        {
            "client_id": "certified",
            "profile": "fapi2_security",
            "self_signed_certificates": [OWN.pem],
            "tls_client_certificate_bound_access_tokens": True,
            "allowed_grant_types": ["client_credentials"],
            "allowed_scopes": ["api2"],
        }
    )
    return config


async def test_the_certificate_alone_is_enough(service: RunningService) -> None:
    answer = await service.post("/connect/token", headers=OWN.headers(), **FORM)
    assert answer["token_type"] == "Bearer"
    assert claims_in(answer["access_token"])["cnf"] == {"x5t#S256": OWN.thumbprint}
