"""The service publishes keys to encrypt request objects to where a client may need them (OIDC Core §6.1, §10.2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("openid-core#10.2", "7517#4.2")


async def read_jwks(service: RunningService) -> list[tuple[str, str]]:
    """Use and algorithm of every key in the JWKS."""
    keys = (await service.get("/.well-known/jwks.json"))["keys"]
    return [(key["use"], key["alg"]) for key in keys]


async def test_a_reload_adds_and_removes_the_key_that_a_client_needs(
    service: RunningService, config: dict[str, Any]
) -> None:
    states: list[list[tuple[str, str]]] = []
    for alg in (None, "ECDH-ES+A128KW", "dir"):
        client_in(config, "web")["request_object_encryption_alg"] = alg
        service.reload(config)
        await service.features.key_source.refresh()
        states.append(await read_jwks(service))
    signing = [("sig", "ES256")]
    assert states == [signing, [*signing, ("enc", "ECDH-ES+A128KW")], signing]


async def test_published_keys_have_no_private_part(
    service: RunningService, config: dict[str, Any]
) -> None:
    client_in(config, "web")["request_object_encryption_alg"] = "RSA-OAEP-256"
    service.reload(config)
    await service.features.key_source.refresh()
    keys = (await service.get("/.well-known/jwks.json"))["keys"]
    assert set(keys[1]) == {"kty", "use", "alg", "kid", "n", "e"}


async def test_the_operator_asks_for_keys_that_no_client_registered(
    config: dict[str, Any], start: Start
) -> None:
    algorithms = ["RSA-OAEP-256", "ECDH-ES"]
    config["signing"] = config.get("signing", {}) | {"encryption_algorithms": algorithms}
    service = await start(config)
    assert await read_jwks(service) == [("sig", "ES256"), *(("enc", alg) for alg in algorithms)]
    metadata = (await service.get("/.well-known/openid-configuration")).json
    assert set(algorithms) <= set(metadata["request_object_encryption_alg_values_supported"])
