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
from tests.conftest import Start
from tests.driving.database_servers import PostgresServer
from tests.driving.service import claims_in
from tests.takeover.conftest import Import, a_realm, invoke
from tests.takeover.importing import run_import, sign_in
from tests.takeover.many import (
    CLIENTS,
    USERS,
    write_dex,
    write_hydra,
    write_identityserver,
    write_realm,
)
from tests.takeover.test_identityserver import identity_v3, user_row
from tests.users.database import Database

MEMORY = 120 << 10
"""KiB: of these a program that has read nothing takes 45 MiB, so that 100,000 users take less than 300 MiB."""
MEASURED = """
import atexit, pathlib, sys
from service.__main__ import main
atexit.register(lambda: sys.stderr.write(pathlib.Path("/proc/self/status").read_text()))
main()
"""


@pytest.mark.parametrize(
    ("kind", "write"),
    [
        ("keycloak", write_realm),
        ("dex", write_dex),
        ("identityserver", write_identityserver),
        ("hydra", write_hydra),
    ],
)
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
    assert report["taken"].get("users", 0) == (0 if kind == "hydra" else USERS)
    assert peak < MEMORY
    assert invoke("check", str(tmp_path / "out/config.yaml")).exit_code == 0
    if kind == "hydra":
        return
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


async def test_users_of_the_database_sign_in_and_get_a_stronger_hash(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fill_database: Callable[[Path], str],
    start: Start,
) -> None:
    monkeypatch.setattr(users_files, "MAX_IN_YAML", 1)
    uri = "https://shop.example.com/callback"
    client = {"ClientId": "shop", "RequireClientSecret": False, "RequirePkce": False}
    lists = {"AllowedGrantTypes": ["authorization_code"], "AllowedScopes": ["openid"]}
    users = [user_row(sub, PasswordHash=identity_v3(f"password-{sub}")) for sub in "12"]
    source = tmp_path / "appsettings.json"
    exported = {"Clients": [{**client, **lists, "RedirectUris": [uri]}], "AspNetUsers": users}
    resources = {"IdentityResources": [{"Name": "openid", "UserClaims": ["sub"]}]}
    source.write_text(json.dumps({**exported, **resources}))
    configuration = run_import("identityserver", source, tmp_path / "out").configuration
    configuration["users"]["sql"]["url"] = url = fill_database(tmp_path / "out/users.sql")
    service = await start(configuration)
    request = {"client_id": "shop", "redirect_uri": uri, "scope": "openid"}
    for _ in range(2):  # also with the hash that the first sign-in has put in place of the old one
        answer = await sign_in(service, "USER-2", "password-2", **request)
        form = {"client_id": "shop", "redirect_uri": uri, "code": answer["code"]}
        tokens = await service.token(None, grant_type="authorization_code", **form)
        assert claims_in(tokens["id_token"])["sub"] == "2"
    hashes = await Database(url).execute("SELECT password FROM users ORDER BY sub")
    assert [row[0].startswith("$argon2id$") for row in hashes] == [False, True]
