"""The registry of the three replicas: the tests' own, and a client for each flow that needs more."""

from __future__ import annotations

from typing import Any

from tests.ciba.consumption import ciba_client
from tests.clients.signing import SECRET, key_of
from tests.conftest import ENCRYPTION_KEY
from tests.device.tv import TELEVISIONS
from tests.driving.registry import client_in, fresh_configuration, hashed, password_of
from tests.identity_providers.journey import provider_entry
from tests.jwt_bearer.foreign import partner_entry, presenter_entry
from tests.request_objects.sending import jwks
from tests.token_exchange.exchanging import EXCHANGE

SEEDS = (1, 2)
PER_MINUTE = 200
FAILURES = 3
WAYS = (
    *("authorize", "account", "device", "ciba", "provider"),
    *("remembered browser", "password grant"),
)
"""To where a second factor is given, each with people of its own."""
SHOP = "https://shop.example"
"""A trust domain."""


def configuration(store: str, *, party: int, provider: int, site: int) -> dict[str, Any]:
    """All flows, on this store; a client's, a provider's and a site's server are at these ports."""
    whole = fresh_configuration()
    whole["store"] = {"url": store}
    whole["signing"]["encryption_key"] = ENCRYPTION_KEY
    whole["limits"] = {"login_failures": FAILURES, "token_requests_per_minute": PER_MINUTE}
    whole["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    whole["identity_providers"] = [provider_entry(f"http://127.0.0.1:{provider}")]
    whole["trusted_issuers"] = [partner_entry()]
    whole["clients"].append(presenter_entry("courier", hashed("courier")))
    client_in(whole, "web")["backchannel_logout_uri"] = f"http://localhost:{party}/backchannel"
    client_in(whole, "web").update(
        jwks=jwks(),
        request_object_encryption_alg="ECDH-ES",
        request_uris=[f"http://127.0.0.1:{site}/request-{seed}" for seed in SEEDS],
    )
    client_in(whole, "api1")["allowed_grant_types"].append(EXCHANGE)
    whole["token_exchange"] = [{"clients": ["api1"], "scopes": ["api2"], "audiences": ["api2"]}]
    whole["trust_domains"] = [
        {
            "name": SHOP,
            "clients": ["api1"],
            "scopes": ["checkout"],
            "lifetime": "1m",
            "replacement": ["api1"],
        }
    ]
    whole["clients"].append(
        ciba_client(
            "till",
            client_in(whole, "web")["client_secrets"],
            backchannel_token_delivery_mode="ping",
            backchannel_client_notification_endpoint=f"http://localhost:{party}/told",
        )
    )
    whole["clients"] += TELEVISIONS
    whole["users"]["list"] += [
        {"sub": name, "username": name, "password": password_of(name)}
        for way in (*WAYS, "recovery code")
        for name in (f"replay-{way}", f"guess-{way}")
    ]
    machine = client_in(whole, "machine")
    whole["clients"] += [
        machine | {"client_id": "signing", "client_secrets": [{"value": SECRET}]},
        machine | {"client_id": "signing-key", "client_secrets": [], "jwks": _key()},
        *(
            _of_its_own(machine, f"{name}-{seed}")
            for name in ("busy", "rotating")
            for seed in SEEDS
        ),
        _of_its_own(machine, "nonce") | {"dpop_nonce_required": True},
    ]
    return whole


def _of_its_own(client: dict[str, Any], client_id: str) -> dict[str, Any]:
    return client | {"client_id": client_id, "client_secrets": [{"sha256": hashed(client_id)}]}


def _key() -> dict[str, Any]:
    return {"keys": [key_of("ES256").public_jwk]}
