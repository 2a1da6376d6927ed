"""A registered secret is a key where an algorithm needs one (OIDC Core §9, §10.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from service.clock import clock
from tests.driving.registering import RegisteredApp
from tests.driving.service import RunningService

Registering = Callable[..., Awaitable[RegisteredApp]]


def key_of(client: RegisteredApp) -> OctKey:
    """Its secret as a key."""
    return OctKey.import_key(client.registered["client_secret"])


@pytest.mark.rfc("openid-core#10.1")
@pytest.mark.parametrize("alg", ["HS256", "HS384", "HS512"])
async def test_a_secret_signs_identity_tokens(registering: Registering, alg: str) -> None:
    client = await registering(id_token_signed_response_alg=alg)
    id_token = (await client.tokens(scope="openid"))["id_token"]
    read = jwt.decode(id_token, key_of(client), algorithms=[alg])
    assert read.claims["aud"] == client.client_id


@pytest.mark.rfc("openid-core#9")
async def test_a_secret_signs_assertions(registering: Registering, service: RunningService) -> None:
    client = await registering(
        token_endpoint_auth_method="client_secret_jwt",
        grant_types=["client_credentials"],
        redirect_uris=["https://registered.example/callback"],
    )
    form = {"grant_type": "client_credentials", "scope": "api1", **assertion_of(client)}
    assert (await service.token(None, **form)).status == 200
    wrong = assertion_of(client, OctKey.import_key("x" * 64))
    refused = await service.token(None, **form | wrong)
    assert refused.refusal == (401, "invalid_client")


def assertion_of(client: RegisteredApp, key: OctKey | None = None) -> dict[str, Any]:
    """Return an assertion, which the client sends instead of its secret."""
    claims = {
        "iss": client.client_id,
        "sub": client.client_id,
        "aud": client.service.issuer,
        "jti": f"once-{key is None}",
        "exp": clock() + 60,
    }
    return {
        "client_assertion": jwt.encode({"alg": "HS256"}, claims, key or key_of(client)),
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    }


async def test_the_store_holds_the_secret_only_encrypted(
    registering: Registering, service: RunningService
) -> None:
    client = await registering(id_token_signed_response_alg="HS256")
    keys = [key async for key in service.features.shared.kv.find_keys("*:rc")]
    stored = b"".join([await service.features.shared.kv.get(key) or b"" for key in keys])
    assert b"sealed_secret" in stored
    assert client.registered["client_secret"].encode() not in stored


async def test_a_lost_encryption_key_disables_only_the_symmetric_algorithms(
    registering: Registering, service: RunningService
) -> None:
    client = await registering(id_token_signed_response_alg="HS256")
    stores = service.features.shared.stores
    selector = client.client_id.removeprefix("dc_")
    (record,) = await stores.kv.read(stores.registered_clients.read(selector))
    assert record is not None
    registered = service.features.registered
    assert registered is not None
    broken = registered.policy.build_client(record, secret_value=None)
    assert [secret.value for secret in broken.client_secrets] == [None]
    assert broken.client_secrets[0].sha256 == record.secret_sha256
