"""The service with the users of a real directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.conftest import command  # noqa: F401 - the fixture
from tests.driving.slapd import Slapd
from tests.ldap.people import EVERYBODY


def pytest_itemcollected(item: pytest.Item) -> None:
    """Everything here needs a directory and the library."""
    item.add_marker(pytest.mark.needs("slapd", "import ldap"))


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd]:
    """A directory that no test stops, and in which each test changes only people of its own."""
    with Slapd(tmp_path_factory.mktemp("slapd") / "slapd", EVERYBODY) as slapd:
        yield slapd


@pytest.fixture
def config(config: dict[str, Any], directory: Slapd) -> dict[str, Any]:
    users = {"source": "ldap", "timeout": "30s", "ldap": directory.settings}
    return config | {"users": users}
