"""Neither the admin API nor the console delays other requests, with thousands of clients and a user of ten thousand sessions and grants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.admin.conftest import ALICE, Admin
from tests.admin.console.conftest import Operator
from tests.admin.test_many import LONGEST_TURN, MANY, grant_often, longest_turn, sign_in_often
from tests.driving.service import RunningService

pytestmark = pytest.mark.usefixtures("mortal_redis")

CLIENTS, APIS = 2000, 300


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Thousands of clients with some settings, and hundreds of APIs; Alice is an operator of the console."""
    config["admin"]["writers"] = [{"sub": [ALICE]}]
    config["clients"] += [_client(number) for number in range(CLIENTS)]
    config["api_resources"] += [
        {"name": f"res{number:03}", "secrets": [{"sha256": f"{number:064x}"}]}
        for number in range(APIS)
    ]
    return config


def _client(number: int) -> dict[str, Any]:
    return {
        "client_id": f"app{number:04}",
        "client_name": f"Application {number}",
        "client_secrets": [{"sha256": f"{number:064x}"}],
        "allowed_grant_types": ["authorization_code", "refresh_token", "delegation"],
        "allowed_scopes": ["openid", "profile", "api1", "api2", f"res{number % APIS:03}"],
        "redirect_uris": [f"https://app{number}.example/callback{at}" for at in range(5)],
        "post_logout_redirect_uris": [f"https://app{number}.example/out"],
    }


USER = f"/admin/users/{ALICE}"
PATHS = [
    *("/admin/clients?limit=200", "/admin/api-resources?limit=200", "/admin/graph?limit=200"),
    *("/admin/why?client=app0001&api=api1", "/admin/why?client=app0001&api=res002"),
    *(USER, f"{USER}/sessions?limit=200", f"{USER}/grants?limit=200", "/admin/registry"),
]


async def test_no_answer_of_the_admin_api_delays_others(
    admin: Admin, service: RunningService
) -> None:
    await sign_in_often(service, MANY)
    await grant_often(service, MANY)
    assert await find_slow(PATHS, lambda path: admin("GET", path)) == []


PAGES = [
    *("/", "/clients", "/clients?find=app00", "/client?id=app0001", "/api?name=api1"),
    *(f"/user?sub={ALICE}", "/users", "/registered-clients", "/explain", "/outbox"),
]


async def test_no_page_of_the_console_delays_others(service: RunningService) -> None:
    await sign_in_often(service, MANY)
    await grant_often(service, MANY)
    operator = Operator(service)
    await operator.enter()
    slow = await find_slow(PAGES, operator.open)
    await operator.close()
    assert slow == []


async def find_slow(paths: Sequence[str], open_page: Callable[[str], Any]) -> Sequence[str]:
    """Return those with a long turn each of five times: on a busy machine, a turn may take more by chance."""
    for _ in range(5):
        paths = [path for path in paths if await longest_turn(open_page(path)) >= LONGEST_TURN]
    return paths
