"""Operators in front of the console: Alice may write, Rita may look, Stan is nobody here."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.driving.browser import Browser, Page
from tests.driving.registry import fresh_configuration, password_of
from tests.driving.service import RunningService

HOSTILE = "<script>alert(1)</script>"
ALICE = "818727"


@pytest.fixture
def config() -> dict[str, Any]:
    """The usual configuration with the console, and a client and a user of hostile names."""
    configuration = fresh_configuration()
    configuration["admin"] = {
        "url": "http://127.0.0.1:0",
        "readers": [{"groups": ["support"]}],
        "writers": [{"sub": [ALICE]}],
    }
    people = {"rita": ["support"], "stan": ["sales"]}
    configuration["users"]["list"] += [
        {
            "sub": name,
            "username": name,
            "password": password_of(name),
            "claims": {"name": HOSTILE if name == "stan" else name, "groups": groups},
        }
        for name, groups in people.items()
    ]
    configuration["clients"].append(
        {
            "client_id": "hostile",
            "client_name": HOSTILE,
            "require_client_secret": False,
            "allowed_grant_types": ["authorization_code"],
            "allowed_scopes": ["openid", "api1"],
            "redirect_uris": ["https://hostile.example/callback"],
        }
    )
    return configuration


class Operator(Browser):
    """A browser that follows redirects between the console and the login page."""

    def __init__(self, service: RunningService) -> None:
        super().__init__(service.issuer, also=str(service.admin_url))
        self.console = str(service.admin_url)

    async def open(self, path: str = "/") -> Page:
        """Ask for a page of the console."""
        return await self.get(self.console + path)

    async def enter(self, username: str = "alice", path: str = "/") -> Page:
        """Ask for a page of the console, and sign in at the login page to which that leads."""
        login = await self.open(path)
        assert login.url.startswith(f"{self.issuer}/account/login"), login.url
        return await self.log_in(login, username)

    @property
    def console_cookie(self) -> str:
        """The Cookie header with the session of the console."""
        jar = self.session.cookie_jar
        (cookie,) = (one for one in jar if one.key.startswith("console"))
        return f"{cookie.key}={cookie.value}"

    @staticmethod
    def form_of(page: Page, action: str) -> int:
        """The place of the form that goes there."""
        return next(at for at, form in enumerate(page.forms) if form.action == action)

    async def confirm(self, change: str, changed_id: str = "", **fields: Any) -> Page:
        """Ask for a change, and confirm it."""
        asked = await self.open(f"/confirm?change={change}&id={changed_id}&back=/")
        assert asked.status == 200, asked.text
        return await self.submit(asked, self.form_of(asked, "/confirm"), **fields)


Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def reload(service: RunningService, config: dict[str, Any]) -> Callable[[Change], None]:
    """Changes the file, and reads it again."""
    registry = service.features.shared.registry

    def reload(change: Change) -> None:
        change(config)
        service.features.shared.configuration.file.write_text(json.dumps(config))
        assert registry.reload()

    return reload


@pytest.fixture
async def operator(service: RunningService) -> AsyncIterator[Operator]:
    """Somebody's browser."""
    operator = Operator(service)
    yield operator
    await operator.close()


@pytest.fixture
async def other(service: RunningService) -> AsyncIterator[Operator]:
    """Somebody else's browser."""
    other = Operator(service)
    yield other
    await other.close()


@pytest.fixture
async def rita(other: Operator) -> Operator:
    """A signed-in reader."""
    await other.enter("rita")
    return other
