"""docs/users.md: its example is a table, a configuration and a sign-in that work."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import Start
from tests.documentation.reading import REPOSITORY, blocks
from tests.driving.browser import Browser

PAGE = REPOSITORY / "docs" / "users.md"


@pytest.mark.usefixtures("one_store")
async def test_the_example_signs_alice_in(
    start: Start, config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    statements, _, users, *_ = blocks(PAGE)
    database = sqlite3.connect("people.db")
    database.executescript(statements.text)
    database.close()
    password = re.search(r"password\s+`([^`]+)`", PAGE.read_text())
    assert password
    service = await start(config | yaml.safe_load(users.text))
    browser = Browser(service.issuer)
    login = await browser.get(f"{service.issuer}/account")
    page = await browser.log_in(login, "alice", password=password[1])
    assert (page.path, page.status) == ("/account", 200)
    await browser.close()
