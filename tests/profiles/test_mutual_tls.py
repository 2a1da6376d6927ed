"""A client of FAPI 2.0 may use its certificate for both, authentication and bound tokens (FAPI 2.0 Security Profile §5.3.2.1)."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa

from tests.driving.authority import PrivateKey, self_signed
from tests.driving.browser import Browser
from tests.driving.service import RunningService, claims_in
from tests.profiles.held import HeldApp, jwks

pytestmark = [
    pytest.mark.rfc("fapi2#5.3.2.1"),
    pytest.mark.profile("client_authentication", "bound_tokens"),
]

ALLOWED: dict[str, PrivateKey] = {
    "RSA 2048": rsa.generate_private_key(65537, 2048),
    "P-224": ec.generate_private_key(ec.SECP224R1()),
    "Ed25519": ed25519.Ed25519PrivateKey.generate(),
}
WEAK: dict[str, PrivateKey] = {
    "RSA 1024": rsa.generate_private_key(65537, 1024),  # noqa: S505 - weak, which is the point
    "P-192": ec.generate_private_key(ec.SECP192R1()),
    "Ed448": ed448.Ed448PrivateKey.generate(),
}
BY_KEY = {name: self_signed("CN=certified", key=key) for name, key in (ALLOWED | WEAK).items()}
OWN, OTHER = self_signed("CN=certified"), self_signed("CN=other")
FORM = {"client_id": "certified", "grant_type": "client_credentials", "scope": "api2"}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The client has a certificate, and no other credential."""
    config["server"] = {
        "trusted_proxies": ["127.0.0.1"],
        "client_certificate_header": "Client-Cert",
    }
    client = {
        "client_id": "certified",
        "profile": "fapi2_security",
        "tls_client_certificate_bound_access_tokens": True,
        "allowed_grant_types": ["client_credentials"],
        "allowed_scopes": ["api2"],
    }
    thumbprints = [one.thumbprint for one in (OWN, *BY_KEY.values())]
    config["clients"] += [
        client | {"self_signed_certificates": thumbprints},
        client | {"client_id": "bound", "jwks": jwks()},
    ]
    return config


async def test_the_certificate_alone_is_enough(service: RunningService) -> None:
    answer = await service.post("/connect/token", headers=OWN.headers(), **FORM)
    assert answer["token_type"] == "Bearer"
    assert claims_in(answer["access_token"])["cnf"] == {"x5t#S256": OWN.thumbprint}


@pytest.mark.profile("key_sizes")
@pytest.mark.rfc("fapi2#5.4.1")
@pytest.mark.parametrize("kind", [*ALLOWED, *WEAK])
async def test_the_key_of_the_certificate_is_one_that_the_profile_allows(
    service: RunningService, browser: Browser, kind: str
) -> None:
    shown = BY_KEY[kind].headers()
    authenticated = await service.post("/connect/token", headers=shown, **FORM)
    form: dict[str, Any] = {name: FORM[name] for name in ("grant_type", "scope")}
    bound = await HeldApp(service, browser, "bound").send("/connect/token", headers=shown, **form)
    if kind in ALLOWED:
        assert (authenticated.status, bound.status) == (200, 200)
    else:
        assert authenticated.refusal == (401, "invalid_client")
        assert bound.refusal == (400, "invalid_request")
