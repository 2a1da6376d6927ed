"""Discovery lists the algorithms that somebody has the keys for, and nothing more (OpenID Connect Discovery §3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("openid-discovery#3")

ENCRYPTION = ("id_token_encryption_alg", "userinfo_encryption_alg", "userinfo_encryption_enc")


async def read_discovery(service: RunningService) -> dict[str, Any]:
    """The document."""
    return (await service.get("/.well-known/openid-configuration")).json


async def test_clients_with_secrets_and_keys_can_have_all(service: RunningService) -> None:
    document = await read_discovery(service)
    for name in ("id_token", "userinfo"):
        assert document[f"{name}_signing_alg_values_supported"] == [
            "ES256",
            "HS256",
            "HS384",
            "HS512",
        ]
        encryption = document[f"{name}_encryption_alg_values_supported"]
        assert {"RSA-OAEP-256", "ECDH-ES", "A128KW", "dir"} < set(encryption)
        assert "A128CBC-HS256" in document[f"{name}_encryption_enc_values_supported"]


async def test_discovery_names_no_encryption_when_no_client_has_a_key(start: Start) -> None:
    document = await read_discovery(await start(fresh_configuration()))
    assert document["userinfo_signing_alg_values_supported"] == ["ES256"]
    assert not [name for name in ENCRYPTION if f"{name}_values_supported" in document]


async def test_a_secret_fits_the_algorithms_that_it_is_long_enough_for(start: Start) -> None:
    config = fresh_configuration()
    config["clients"][0]["client_secrets"] = [{"value": "x" * 40}]
    document = await read_discovery(await start(config))
    assert document["id_token_signing_alg_values_supported"] == ["ES256", "HS256"]
    assert document["id_token_encryption_alg_values_supported"] == ["A128KW", "A256KW", "dir"]
