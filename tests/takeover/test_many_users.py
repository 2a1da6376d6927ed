"""Thousands of clients and users are taken over in bounded memory, as SQL for SQLite and PostgreSQL that users sign in by."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from service.identity.sources.sql import SqlUserStore
from service.start.load import load
from service.takeover import users_files
from tests.driving.database_servers import PostgresServer
from tests.takeover.conftest import Import, a_client, a_realm, invoke

CLIENTS, USERS = 2_000, 30_000
MEMORY = 120 << 10
"""KiB: of these a program that has read nothing takes 45 MiB, so that 100,000 users take less than 300 MiB."""
MEASURED = """
import atexit, pathlib, sys
from service.__main__ import main
atexit.register(lambda: sys.stderr.write(pathlib.Path("/proc/self/status").read_text()))
main()
"""


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


@pytest.mark.parametrize(("kind", "write"), [("keycloak", write_realm), ("dex", write_dex)])
def test_memory_is_bounded_whatever_the_number_of_users(
    kind: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    write(tmp_path / "source")
    command = ["import", kind, str(tmp_path / "source"), "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command, "--report", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    peak = int(done.stderr.partition("VmHWM:")[2].split()[0])
    assert report["taken"]["clients"] == CLIENTS
    assert report["taken"]["users"] == USERS
    assert peak < MEMORY
    assert invoke("check", str(tmp_path / "out/config.yaml")).exit_code == 0
    with closing(sqlite3.connect(tmp_path / "users.db")) as database:
        database.executescript((tmp_path / "out/users.sql").read_text())
        assert database.execute("SELECT COUNT(*) FROM users").fetchone() == (USERS,)


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.needs("postgres", "initdb", "psql")),
    ]
)
def fill_database(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Path], str]:
    """Run a file of SQL as its first line says; return the URL of the database."""

    def fill_sqlite(script: Path) -> str:
        with closing(sqlite3.connect(tmp_path / "users.db")) as database:
            database.executescript(script.read_text())
        return f"sqlite+aiosqlite:///{tmp_path}/users.db"

    def fill_postgres(script: Path) -> str:
        server: PostgresServer = request.getfixturevalue("postgres")
        psql = ["psql", "-h", str(server.folder), "-U", "tester", "-d", "postgres", "-q"]
        stop_at_errors = ["-v", "ON_ERROR_STOP=1"]
        anew = ["-c", "DROP TABLE IF EXISTS identities, users"]
        subprocess.run([*psql, *stop_at_errors, *anew, "-f", str(script)], check=True)
        return server.url

    return fill_sqlite if request.param == "sqlite" else fill_postgres


@pytest.fixture
async def store(
    import_realm: Import,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fill_database: Callable[[Path], str],
) -> AsyncIterator[SqlUserStore]:
    """Users who are too many for YAML, in a database."""
    monkeypatch.setattr(users_files, "MAX_IN_YAML", 1)
    alice = {
        "id": "1",
        "username": "Alice",
        "email": "Alice@Example.com",
        "emailVerified": True,
        "firstName": "O'Hara \\ ${HOME}",
        "federatedIdentities": [{"identityProvider": "partner", "userId": "p'1"}],
    }
    users = [
        alice,
        {"id": "2", "username": "bob", "email": "bob@example.com", "emailVerified": False},
        {"id": "3", "username": "carol@example.com", "enabled": False},
        {"id": "4", "username": "dave", "email": "carol@example.com", "emailVerified": True},
    ]
    config = {"issuer": "https://idp.example.com", "clientId": "shop", "clientSecret": "secret"}
    provider = {"alias": "partner", "providerId": "oidc", "config": config}
    result = import_realm(a_realm(users=users, identityProviders=[provider]))
    assert result.exit_code == 0, result.output
    url = fill_database(tmp_path / "out/users.sql")
    settings = load(tmp_path / "out/config.yaml", {"USERS_DATABASE": url}).users
    assert settings.sql is not None
    store = SqlUserStore(create_async_engine(url, isolation_level="AUTOCOMMIT"), settings.sql)
    yield store
    await store.close()


@pytest.mark.parametrize(
    ("name", "sub"),
    [
        ("ALICE", "1"),
        ("alice@example.com", "1"),
        ("bob@example.com", "2"),
        ("carol@example.com", "3"),
        ("nobody", None),
    ],
)
async def test_a_user_of_the_database_signs_in_by_name_or_address(
    store: SqlUserStore, name: str, sub: str | None
) -> None:
    assert getattr(await store.by_username(name), "sub", None) == sub


async def test_a_user_of_the_database_is_the_one_of_the_realm(store: SqlUserStore) -> None:
    user = await store.by_subject("1")
    assert user is not None
    assert user.claims["given_name"] == "O'Hara \\ ${HOME}"
    assert user.claims["email"] == "alice@example.com"
    assert await store.by_email("ALICE@example.com") == user
    assert await store.by_email("bob@example.com") is None
    assert await store.by_identity("partner", "p'1") == user
    assert [each.sub for each in await store.list_users("al", 5)] == ["1"]
    disabled = await store.by_subject("3")
    assert disabled is not None
    assert not disabled.enabled
