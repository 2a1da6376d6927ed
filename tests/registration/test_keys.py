"""A client changes its keys by an update, and the old ones are nobody's (RFC 7592 §2.2, OIDC Core §10.1.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from secrets import token_hex
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey

from service.clock import clock
from service.keys.jose import Key
from tests.driving.registering import RegisteredApp
from tests.driving.service import RunningService

Registering = Callable[..., Awaitable[RegisteredApp]]
pytestmark = pytest.mark.rfc("7592#2.2", "openid-core#10.1.1")


def new_key(kid: str) -> ECKey:
    """A key pair of the client's."""
    return ECKey.generate_key("P-256", {"kid": kid})


def published(*keys: ECKey) -> dict[str, Any]:
    """Return the public keys, which the client registers."""
    public = [key.as_dict(private=False) for key in keys]
    return {
        "token_endpoint_auth_method": "private_key_jwt",
        "grant_types": ["client_credentials"],
        "jwks": {"keys": public},
    }


async def authenticates(client: RegisteredApp, service: RunningService, key: ECKey) -> bool:
    """Whether the client gets a token by this key; a refusal is invalid_client."""
    now = clock()
    claims: dict[str, Any] = {
        "iss": client.client_id,
        "sub": client.client_id,
        "aud": service.issuer,
        "jti": token_hex(),
        "exp": now + 60,
    }
    answer = await service.token(
        None,
        grant_type="client_credentials",
        scope="api1",
        client_assertion_type="urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion=jwt.encode({"alg": "ES256", "kid": key.kid}, claims, key),
    )
    assert answer.status == 200 or answer.refusal == (401, "invalid_client")
    return answer.status == 200


async def test_new_keys_replace_the_old_ones(
    registering: Registering, service: RunningService
) -> None:
    old, new = new_key("old"), new_key("new")
    client = await registering(**published(old))
    assert await authenticates(client, service, old)
    assert (await client.change(**published(new))).status == 200
    assert await authenticates(client, service, new)
    assert not await authenticates(client, service, new_key("old"))


async def test_a_replaced_key_is_refused(registering: Registering, service: RunningService) -> None:
    old = new_key("old")
    client = await registering(**published(old))
    await client.change(**published(new_key("new")))
    assert not await authenticates(client, service, old)


async def test_a_key_is_read_once_however_often_its_client_signs(
    registering: Registering, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = new_key("mine")
    client = await registering(**published(key))
    assert await authenticates(client, service, key)
    monkeypatch.setattr(Key, "load", None)
    assert await authenticates(client, service, key)
