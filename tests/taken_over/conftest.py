"""The keys of the server before, and tokens as it has made them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from time import time
from typing import Any
from uuid import uuid4

import pytest

from service.keys.jose import Key
from tests.driving.service import RunningService

Sign = Callable[..., Awaitable[str]]


@cache
def old_key(alg: str = "RS256") -> Key:
    """A key of the server before."""
    return Key.generate(alg)


def write_jwks(file: Path, *keys: dict[str, Any]) -> Path:
    """Write a JWK set; return its file."""
    file.write_text(json.dumps({"keys": keys}))
    return file


def at(**span: float) -> str:
    """A time of the configuration, from now on."""
    return (datetime.now(UTC) + timedelta(**span)).isoformat()


@pytest.fixture
def jwks(tmp_path: Path) -> Path:
    """The file with the public key, and one to encrypt to, as Keycloak publishes them."""
    other = old_key().public_jwk | {"kid": "enc", "use": "enc", "alg": "RSA-OAEP"}
    return write_jwks(tmp_path / "old.json", old_key().public_jwk, other)


@pytest.fixture
def config(config: dict[str, Any], jwks: Path) -> dict[str, Any]:
    """The service publishes the key for an hour."""
    config["signing"]["verify_only"] = [{"jwks": str(jwks), "until": at(hours=1)}]
    return config


@pytest.fixture
def sign(service: RunningService) -> Sign:
    """Signs claims as the server before: an access token of Keycloak's, unless they say otherwise."""

    async def sign(*, header: str = "JWT", key: Key | None = None, **changes: object) -> str:
        usual: dict[str, object] = {
            "iss": service.issuer,
            "aud": "api1",
            "azp": "web",
            "typ": "Bearer",
            "sub": "818727",
            "scope": "openid api1",
            "sid": "0a1b2c",
            "jti": f"onrtac:{uuid4()}",
            "iat": int(time()),
            "exp": int(time()) + 300,
        }
        claims = {name: value for name, value in (usual | changes).items() if value is not None}
        return await (key or old_key()).sign(claims, typ=header)

    return sign
