"""A process of its own imports the libraries that its users' source, or a class of the operator, needs."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import httpx2
import pytest
import yaml

from service.cli.importing import UNWANTED
from tests.driving.process import DEMONSTRATION, serving
from tests.driving.registry import fresh_configuration, password_of, secret_of

pytestmark = pytest.mark.usefixtures("one_store")  # the embedded one, of that process


def configuration_with(users: dict[str, object]) -> str:
    issuer = f"http://{DEMONSTRATION}"
    whole = fresh_configuration() | {"issuer": issuer, "store": {"url": "memory://"}}
    return yaml.safe_dump(whole | {"users": users}, sort_keys=False)


def sign_in(address: str) -> int:
    form = {"grant_type": "password", "username": "alice", "password": "alice-password"}
    credentials = ("frontend", secret_of("frontend"))
    return httpx2.post(
        f"http://{address}/connect/token", data=form | {"scope": "api1"}, auth=credentials
    ).status_code


def test_users_of_a_database_sign_in(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "users.sqlite") as database:
        database.execute("CREATE TABLE users (sub, username, password, enabled)")
        row = ("1", "alice", password_of("alice"), 1)
        database.execute("INSERT INTO users VALUES (?, ?, ?, ?)", row)
    sql = {"url": f"sqlite+aiosqlite:///{tmp_path / 'users.sqlite'}", "table": "users"}
    users = configuration_with({"source": "sql", "sql": sql})
    with serving(users, tmp_path) as address:
        assert sign_in(address) == 200


def test_a_class_of_the_operator_imports_what_it_needs(tmp_path: Path) -> None:
    imports = "\n".join(f"import {name}" for name in UNWANTED)
    module = "from service.model.user import User\n\n\nclass Users:\n" + "".join(
        f"    async def {name}(self, given):\n        {body}\n"
        for name, body in {
            "by_subject": "return User(sub='1', username='alice', password=HASH)",
            "by_username": "return await self.by_subject(given)",
        }.items()
    )
    (tmp_path / "own_users.py").write_text(f"{imports}\nHASH = {password_of('alice')!r}\n{module}")
    own = configuration_with({"source": "own_users:Users"})
    with serving(own, tmp_path, PYTHONPATH=str(tmp_path)) as address:
        assert sign_in(address) == 200
