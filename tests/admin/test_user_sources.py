"""Users of every source are found, and a source that cannot search by e-mail address says what it lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.admin.conftest import token_of
from tests.conftest import Start
from tests.users.database import SETTINGS, Database

pytestmark = pytest.mark.usefixtures("one_store")

DIRECTORY = {
    "urls": ["ldaps://127.0.0.1:1"],
    "bind_dn": "cn=service,dc=example,dc=org",
    "bind_password": "password",
    "base": "ou=people,dc=example,dc=org",
    "sub": "entryUUID",
}


async def ask(start: Start, config: dict[str, Any], users: dict[str, Any], query: str) -> Any:
    """The answer of a service with these users."""
    service = await start(config | {"users": users})
    token = await token_of(service, "operations")
    return await service.admin("GET", f"/admin/users?{query}", token)


@pytest.fixture
async def database(tmp_path: Path) -> Database:
    database = Database(f"sqlite+aiosqlite:///{tmp_path}/people.db")
    await database.fill()
    return database


@pytest.mark.parametrize("query", ["username=ALICE", "sub=1", "email=Alice@example.com"])
async def test_user_of_a_database_is_found(
    start: Start, config: dict[str, Any], database: Database, query: str
) -> None:
    users = {"source": "sql", "sql": {**SETTINGS, "url": database.url}, "timeout": "30s"}
    (found,) = (await ask(start, config, users, query))["items"]
    assert (found["sub"], found["username"], found["source"]) == ("1", "Alice", "sql")
    assert found["claims"]["email_verified"] is True


async def test_unverified_address_finds_no_user(
    start: Start, config: dict[str, Any], database: Database
) -> None:
    users = {"source": "sql", "sql": {**SETTINGS, "url": database.url}, "timeout": "30s"}
    answer = await ask(start, config, users, "email=bob@example.com")
    assert (answer.status, answer["items"]) == (200, [])


async def test_address_of_several_users_is_refused_with_the_reason(
    start: Start, config: dict[str, Any], database: Database
) -> None:
    await database.execute("UPDATE people SET mail = 'a@example.com', confirmed = active")
    users = {"source": "sql", "sql": {**SETTINGS, "url": database.url}, "timeout": "30s"}
    answer = await ask(start, config, users, "email=A@example.com")
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"].startswith("several users have this e-mail address")


async def test_database_without_addresses_is_named(
    start: Start, config: dict[str, Any], database: Database
) -> None:
    sql = {**SETTINGS, "url": database.url, "claims": {"name": "full_name"}}
    answer = await ask(start, config, {"source": "sql", "sql": sql}, "email=a@example.com")
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"] == (
        "users cannot be found by e-mail address: users.sql has neither the query by_email nor the claim email"
    )


@pytest.mark.parametrize(
    ("changes", "lacking"),
    [
        ({}, "users.ldap.fixed_claims does not say that email_verified is true"),
        ({"claims": {"name": "cn"}}, "users.ldap.claims has no email"),
    ],
    ids=["unverified", "no address"],
)
async def test_directory_without_verified_addresses_is_named(
    start: Start, config: dict[str, Any], changes: dict[str, Any], lacking: str
) -> None:
    users = {"source": "ldap", "ldap": DIRECTORY | changes}
    answer = await ask(start, config, users, "email=a@example.com")
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"] == f"users cannot be found by e-mail address: {lacking}"


async def test_class_without_a_search_by_address_is_named(
    start: Start, config: dict[str, Any]
) -> None:
    source = "tests.users.switched:SwitchedUsers"
    answer = await ask(start, config, {"source": source}, "email=a@example.com")
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"] == (
        f"users cannot be found by e-mail address: users.source {source} has no method by_email"
    )


async def test_unavailable_source_is_no_empty_answer(start: Start, config: dict[str, Any]) -> None:
    users = {"source": "ldap", "ldap": DIRECTORY, "timeout": "1s"}
    answer = await ask(start, config, users, "username=alice")
    assert answer.refusal == (503, "temporarily_unavailable")
