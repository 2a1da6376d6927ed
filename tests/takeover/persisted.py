"""Rows of PersistedGrants as IdentityServer4 4.x and Duende IdentityServer write them, made without code of the service."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

OLD_HANDLE = "9B1F6C0A4D7E48F3B2A15C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F9001"
NEW_HANDLE = "0D2E6C0A4D7E48F3B2A15C6D7E8F90A1B2C3D4E5F60718293A4B5C6D7E8F9002-1"
ALICE = "818727"
STRING = "http://www.w3.org/2001/XMLSchema#string"
LIFETIME = 2_592_000


def key_of(handle: str) -> str:
    """The column Key: base64 of the hash, for handles that end in -1 hex."""
    hashed = hashlib.sha256(f"{handle}:refresh_token".encode()).digest()
    return hashed.hex().upper() if handle.endswith("-1") else b64encode(hashed).decode()


def written(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f") + "7Z"


def claims_of(*more: tuple[str, str], client_id: str, sub: str = ALICE) -> list[dict[str, str]]:
    common = (("client_id", client_id), ("sub", sub), ("auth_time", "1599739284"))
    pairs = (*common, ("idp", "local"), ("amr", "pwd"), ("sid", "OLD-SESSION"), *more)
    return [{"Type": kind, "Value": value, "ValueType": STRING} for kind, value in pairs]


def data_v4(scope: str, *, client_id: str = "frontend", **token: Any) -> dict[str, Any]:
    """The column Data of IdentityServer4."""
    at = written(datetime.now(UTC) - timedelta(days=1))
    scopes = [("scope", value) for value in scope.split()]
    access = {
        "AllowedSigningAlgorithms": [],
        "Confirmation": None,
        "Audiences": ["api1"],
        "Issuer": "https://old.example",
        "CreationTime": at,
        "Lifetime": 3600,
        "Type": "access_token",
        "ClientId": client_id,
        "AccessTokenType": 0,
        "Description": None,
        "Claims": claims_of(*scopes, client_id=client_id),
        "Version": 4,
    }
    whole = {"CreationTime": at, "Lifetime": LIFETIME, "ConsumedTime": None}
    return whole | {"AccessToken": access | token, "Version": 4}


def data_v5(scope: str, *, client_id: str = "frontend", **members: Any) -> dict[str, Any]:
    """The column Data of Duende, in its container."""
    at = written(datetime.now(UTC) - timedelta(days=1))
    claims = claims_of(client_id=client_id)
    token = {
        "CreationTime": at,
        "Lifetime": LIFETIME,
        "AccessTokens": {"": {"ClientId": client_id, "Claims": claims, "Version": 5}},
        "Subject": {"AuthenticationType": "pwd", "Claims": claims},
        "Version": 5,
        "ClientId": client_id,
        "SessionId": "OLD-SESSION",
        "AuthorizedScopes": scope.split(),
    }
    payload = json.dumps(token | members)
    return {"PersistentGrantDataContainerVersion": 1, "DataProtected": False, "Payload": payload}


def row(handle: str, data: dict[str, Any] | str, **columns: Any) -> dict[str, Any]:
    """A row as `SELECT … FOR JSON` writes it; times without a zone are UTC."""
    now = datetime.now(UTC)
    common = {
        "Key": key_of(handle),
        "Type": "refresh_token",
        "SubjectId": ALICE,
        "SessionId": "OLD-SESSION",
        "ClientId": "frontend",
        "CreationTime": (now - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S"),
        "Expiration": (now + timedelta(days=29)).strftime("%Y-%m-%dT%H:%M:%S.1234567"),
        "Data": data if isinstance(data, str) else json.dumps(data),
    }
    return common | columns
