"""The registry that the tests run against; whose secret is `<name>-secret`, whose password `<name>-password`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import yaml
from argon2 import PasswordHasher

REGISTRY = Path(__file__).parents[1] / "registry.yaml"


def fresh_configuration() -> dict[str, Any]:
    """A configuration of the test's own, free to be changed."""
    configuration: dict[str, Any] = orjson.loads(_configuration())
    return configuration


@cache
def _configuration() -> bytes:
    """Return it as JSON, which is read in a twentieth of the time of a copy."""
    text = re.sub(r"\$\{SECRET_(\w+)\}", lambda name: hashed(name[1].lower()), REGISTRY.read_text())
    text = re.sub(r"\$\{PASSWORD_(\w+)\}", lambda name: password_of(name[1].lower()), text)
    return orjson.dumps(yaml.safe_load(text))


def client_in(configuration: dict[str, Any], client_id: str) -> dict[str, Any]:
    """One client's entry, to be changed."""
    return next(client for client in configuration["clients"] if client["client_id"] == client_id)


def user_in(configuration: dict[str, Any], username: str) -> dict[str, Any]:
    """One user's entry, to be changed."""
    users: list[dict[str, Any]] = configuration["users"]["list"]
    return next(user for user in users if user["username"] == username)


def secret_of(name: str) -> str:
    """The secret of a client or API resource of the tests."""
    return f"{name}-secret"


def hashed(name: str) -> str:
    """The same, as the registry holds it."""
    return sha256(secret_of(name).encode()).hexdigest()


def add_client(
    config: dict[str, Any], usual: Mapping[str, Any], client_id: str, **changes: Any
) -> None:
    """Add a client like a usual one, with a secret of its own."""
    secret = {"client_secrets": [{"sha256": hashed(client_id)}]}
    config["clients"].append({**usual, **secret, **changes, "client_id": client_id})


@cache
def password_of(username: str) -> str:
    """The Argon2id hash of `<username>-password`; as cheap as can be, for tests only."""
    hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    return hasher.hash(f"{username}-password")
