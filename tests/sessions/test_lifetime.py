"""A session ends unused, at its absolute end, and with its user (OIDC Session Management §1, ASVS 7.3)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from service.clock import clock as now
from service.identity.sign_in import SignIn
from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService


@pytest.fixture
def config() -> dict[str, Any]:
    session = {"lifetime": "1h", "max_lifetime": "3h"}
    return fresh_configuration() | {"session": session}


async def is_signed_in(app: ClientApp) -> bool:
    """Whether the session counts."""
    return "code" in (await app.authorize(prompt="none")).parameters


async def test_session_ends_when_it_is_not_used(app: ClientApp, clock: Clock) -> None:
    await app.login()
    clock.forward(minutes=59)
    assert await is_signed_in(app)
    clock.forward(minutes=61)
    assert not await is_signed_in(app)


async def test_use_prolongs_a_session(app: ClientApp, clock: Clock) -> None:
    await app.login()
    for _ in range(3):
        clock.forward(minutes=50)
        assert await is_signed_in(app)


async def test_a_page_of_the_account_prolongs_a_session(app: ClientApp, clock: Clock) -> None:
    await app.login()
    for _ in range(2):
        clock.forward(minutes=50)
        assert (await app.browser.get("/account")).status == 200
    clock.forward(minutes=50)
    assert await is_signed_in(app)


async def test_session_has_an_absolute_end(app: ClientApp, clock: Clock) -> None:
    await app.login()
    for _ in range(3):
        clock.forward(minutes=55)
        assert await is_signed_in(app)
    clock.forward(minutes=16)
    assert not await is_signed_in(app)


async def test_remembered_session_lasts_to_its_absolute_end(app: ClientApp, clock: Clock) -> None:
    await app.browser.log_in(await app.authorize(), remember="true")
    clock.forward(minutes=170)
    assert await is_signed_in(app)
    clock.forward(minutes=11)
    assert not await is_signed_in(app)


async def test_a_page_that_read_the_session_before_it_was_remembered_does_not_shorten_it(
    service: RunningService, clock: Clock
) -> None:
    sessions = service.features.shared.sessions
    sign_in = SignIn(subject="818727", idp="local", amr=("pwd",), auth_time=now())
    read, _ = await sessions.start(sign_in, previous=None, user_agent="")
    await sessions.start(replace(sign_in, remember=True), previous=read, user_agent="")
    await sessions.touch(read)
    clock.forward(minutes=170)
    assert await sessions.find_by_id(read.id) is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"username": "alice",', '"username": "alice", "enabled": false,'),
        ('"sub": "818727"', '"sub": "818728"'),
    ],
    ids=["disabled", "gone"],
)
async def test_session_ends_with_its_user(
    app: ClientApp, service: RunningService, before: str, after: str
) -> None:
    await app.login()
    file = service.features.shared.configuration.file
    file.write_text(file.read_text().replace(before, after))
    assert service.features.shared.registry.reload()
    assert not await is_signed_in(app)
