"""2,000 clients and 100,000 users are taken over within 300 MiB, as SQL that users sign in by."""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from service.config.schema.users import Users
from service.identity.sources.sql import SqlUserStore, open_source
from service.model.factors import Factors
from service.start.load import load
from tests.takeover.conftest import Import, a_client, a_realm, invoke

CLIENTS, USERS = 2_000, 100_000
MEMORY = 300 << 10
"""KiB."""


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


def test_memory_is_bounded_whatever_the_number_of_users(tmp_path: Path) -> None:
    write_realm(tmp_path / "realm.json")
    command = ["import", "keycloak", str(tmp_path / "realm.json"), "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-m", "service", *command, "--report", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["taken"]["clients"] == CLIENTS
    assert report["taken"]["users"] == USERS
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < MEMORY
    assert invoke("check", str(tmp_path / "out/config.yaml")).exit_code == 0
    with sqlite3.connect(tmp_path / "users.db") as database:
        database.executescript((tmp_path / "out/users.sql").read_text())
        assert database.execute("SELECT COUNT(*) FROM users").fetchone() == (USERS,)
    database.close()
