"""A service with a provider that may sign its users out everywhere, as Okta does, and clients that may."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.ciba.consumption import ciba_client
from tests.clients.signing import key_of
from tests.device.tv import TELEVISIONS
from tests.driving.listening import listening
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService
from tests.global_revocation.okta import Okta, rsa_key
from tests.identity_providers.conftest import come_back
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import provider_entry

__all__ = ["come_back"]


def tool(client_id: str, **more: Any) -> dict[str, Any]:
    """The entry of a client that does nothing but ask for revocations."""
    return {
        "client_id": client_id,
        "client_secrets": [{"sha256": hashed(client_id)}],
        "allowed_grant_types": ["client_credentials"],
        "may_revoke_subjects": True,
    } | more


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    """Okta."""
    provider = FakeProvider(signer=rsa_key())
    async with listening(provider.handle) as provider.issuer:
        yield provider


@pytest.fixture
def config(config: dict[str, Any], fake: FakeProvider) -> dict[str, Any]:
    """Okta may revoke, `elsewhere` is another provider of it that may not; `siem` may, of Acme's users `acme-siem`."""
    config["identity_providers"] = [
        provider_entry(fake.issuer, may_revoke_subjects=True),
        provider_entry(fake.issuer, name="elsewhere", client_id="elsewhere"),
    ]
    config["tenants"] = [{"name": "acme"}, {"name": "beta"}]
    alice, bob, _ = config["users"]["list"]
    alice["tenant"], bob["tenant"] = "acme", "beta"
    config["pairwise_salt"] = "a-salt-of-at-least-thirty-two-characters"
    public = {"keys": [key_of("ES256").public_jwk]}
    config["clients"] += [
        tool("siem"),
        tool("acme-siem", tenants=["acme"]),
        tool("signer", jwks=public, client_secrets=[]),
        tool("pairwise", subject_type="pairwise"),
        ciba_client("till", client_in(config, "web")["client_secrets"]),
        *TELEVISIONS,
    ]
    return config


@pytest.fixture
def okta(fake: FakeProvider, service: RunningService) -> Okta:
    return Okta(fake, service)
