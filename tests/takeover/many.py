"""Writes exports of other servers with thousands of clients and users, one after the other."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.takeover.conftest import a_client

CLIENTS, USERS = 2_000, 30_000
_DIGEST = base64.b64encode(b"\x01" * 32).decode()
_SEED = base64.b32encode(b"\x01" * 20).decode()


def write_realm(path: Path) -> None:
    """Write the realm with so many clients and users, one after the other."""
    client = a_client(defaultClientScopes=["profile"])
    with path.open("w") as file:
        file.write('{"realm": "shop", "users": [')
        for at in range(USERS):
            user = {
                "id": f"00000000-0000-4000-8000-{at:012}",
                "username": f"user-{at}",
                "email": f"User-{at}@example.com",
                "emailVerified": at % 2 == 0,
                "realmRoles": ["default-roles-shop"],
            }
            file.write(f"{', ' if at else ''}{json.dumps(user)}")
        file.write('], "clients": [')
        for at in range(CLIENTS):
            file.write(f"{', ' if at else ''}{json.dumps(client | {'clientId': f'app-{at}'})}")
        file.write('], "roles": {"realm": [{"name": "default-roles-shop"}]}}')


def write_dex(path: Path) -> None:
    """Write the configuration of dex with so many clients and users."""
    with path.open("w") as file:
        file.write("issuer: https://dex.example.com\nenablePasswordDB: true\nstaticClients:\n")
        for at in range(CLIENTS):
            file.write(f"- id: app-{at}\n  name: App {at}\n  secret: secret-of-app-{at}\n")
            file.write(f"  redirectURIs:\n  - https://app-{at}.example.com/callback\n")
        file.write("staticPasswords:\n")
        for at in range(USERS):
            file.write(f'- email: "user-{at}@example.com"\n  username: "user-{at}"\n')
            file.write(f'  hash: "$2a$10${"a" * 53}"\n')
            file.write(f'  userID: "00000000-0000-4000-8000-{at:012}"\n')


def write_hydra(path: Path) -> None:
    """Write the rows of hydra_client."""
    encoded = _DIGEST.rstrip("=")
    usual = {
        "client_secret": f"$pbkdf2-sha256$i=25000,l=32${encoded}${encoded}",
        "grant_types": json.dumps(["client_credentials"]),
        "scope": "orders",
        "audience": json.dumps(["https://orders.example.com"]),
        "token_endpoint_auth_method": "client_secret_basic",
    }
    _write_rows(path, CLIENTS, lambda at: {"id": f"app-{at}", **usual})


def write_identityserver(path: Path) -> None:
    """Write a folder with a table in each file; a user has a claim, a role and an account, and each tenth an app."""
    path.mkdir()
    digest = {"Type": "SharedSecret", "Value": _DIGEST}
    properties = {"Authority": "https://idp.example.com", "ClientId": "c", "ClientSecret": "s"}
    provider = {"Scheme": "partner", "Type": "oidc", "Properties": json.dumps(properties)}
    app = {"LoginProvider": "[AspNetUserStore]", "Name": "AuthenticatorKey", "Value": _SEED}
    tables: Mapping[str, tuple[int, Callable[[int], dict[str, Any]]]] = {
        "Clients": (CLIENTS, lambda at: {"Id": at, "ClientId": f"app-{at}"}),
        "ClientSecrets": (CLIENTS, lambda at: {"ClientId": at, **digest}),
        "ClientGrantTypes": (
            CLIENTS,
            lambda at: {"ClientId": at, "GrantType": "client_credentials"},
        ),
        "ClientScopes": (CLIENTS, lambda at: {"ClientId": at, "Scope": "orders"}),
        "ApiScopes": (1, lambda at: {"Id": at, "Name": "orders"}),
        "IdentityProviders": (1, lambda _: provider),
        "AspNetRoles": (1, lambda _: {"Id": "r", "Name": "customer"}),
        "AspNetUsers": (USERS, _user_of_identityserver),
        "AspNetUserClaims": (
            USERS,
            lambda at: {"UserId": _id(at), "ClaimType": "given_name", "ClaimValue": f"Name {at}"},
        ),
        "AspNetUserRoles": (USERS, lambda at: {"UserId": _id(at), "RoleId": "r"}),
        "AspNetUserLogins": (
            USERS,
            lambda at: {"UserId": _id(at), "LoginProvider": "partner", "ProviderKey": f"key-{at}"},
        ),
        "AspNetUserTokens": (USERS // 10, lambda at: {"UserId": _id(10 * at), **app}),
        "PersistedGrants": (USERS, lambda at: {"Key": f"key-{at}", "Data": "x" * 500}),
    }
    for name, (count, row) in tables.items():
        _write_rows(path / f"{name}.json", count, row)


def _user_of_identityserver(at: int) -> dict[str, Any]:
    return {
        "Id": _id(at),
        "UserName": f"user-{at}",
        "NormalizedUserName": f"USER-{at}",
        "Email": f"User-{at}@example.com",
        "EmailConfirmed": True,
        "TwoFactorEnabled": at % 10 == 0,
    }


def _id(at: int) -> str:
    return f"00000000-0000-4000-8000-{at:012}"


def _write_rows(path: Path, count: int, row: Callable[[int], dict[str, Any]]) -> None:
    with path.open("w") as file:
        for at in range(count):
            file.write(f"{',' if at else '['}{json.dumps(row(at))}")
        file.write("]")
