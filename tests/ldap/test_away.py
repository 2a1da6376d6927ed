"""A directory that is unavailable, slow or back: 503 with an honest page, never a wrong password (RFC 6749 §5.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.events.users import LoginFailed
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.driving.slapd import Slapd
from tests.ldap.people import EVERYBODY
from tests.ldap.test_sign_in import sign_in

pytestmark = [
    pytest.mark.rfc("6749#5.2"),
    pytest.mark.usefixtures("one_store", "always_probing"),
]

AWAY = (503, "temporarily_unavailable")


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Slapd]:
    """A directory of the test's own."""
    with Slapd(tmp_path / "slapd", EVERYBODY) as slapd:
        yield slapd


@pytest.fixture
def config(config: dict[str, Any], mortal: Slapd) -> dict[str, Any]:
    config["users"]["ldap"] = mortal.settings
    return config


async def test_page_of_a_killed_directory_is_honest(
    app: ClientApp, mortal: Slapd, events: list[object]
) -> None:
    login = await app.authorize()
    mortal.kill()
    for _ in range(7):  # more than the throttle would allow
        page = await app.browser.log_in(login)
        assert (page.status, page.text_of("error")) == AWAY
        assert "ldap" not in page.text.lower()
    mortal.start()
    assert "code" in (await app.browser.log_in(login)).parameters
    assert not any(isinstance(event, LoginFailed) for event in events)


async def test_directory_that_came_back_is_asked_over_new_connections(
    service: RunningService, mortal: Slapd
) -> None:
    """Those that it left open are found to be closed by the first question, which does not fail for that."""
    token = (await sign_in(service, "alice"))["access_token"]
    assert await service.is_active(token)
    mortal.stop()
    mortal.start()
    assert await service.is_active(token)
    assert (await sign_in(service, "alice")).status == 200


async def test_killed_directory_makes_no_token_inactive(
    service: RunningService, mortal: Slapd
) -> None:
    issued = await service.user_token("frontend", "openid api1 offline_access")
    mortal.kill()
    bearer = {"Authorization": f"Bearer {issued['access_token']}"}
    refresh = {"grant_type": "refresh_token", "refresh_token": issued["refresh_token"]}
    assert (await service.introspect(issued["access_token"])).refusal == AWAY
    assert (await service.get("/connect/userinfo", headers=bearer)).refusal == AWAY
    assert (await service.token("frontend", **refresh)).refusal == AWAY
    mortal.start()
    assert await service.is_active(issued["access_token"])
    assert (await service.token("frontend", **refresh)).status == 200


class TestFrozen:
    """A directory that accepts connections and answers nothing."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"] |= {"timeout": "3s", "max_concurrent": 2}
        return config

    @pytest.mark.parametrize("connected", [True, False], ids=["connected", "not connected"])
    async def test_only_requests_that_need_it_wait_for_it(
        self, service: RunningService, mortal: Slapd, connected: bool
    ) -> None:
        if connected:
            assert (await sign_in(service, "alice")).status == 200
        mortal.freeze()
        asking = [sign_in(service, "alice") for _ in range(6)]
        waiting = asyncio.gather(*asking)
        machine = await service.token("machine", grant_type="client_credentials", scope="api1")
        assert machine.status == 200
        assert not waiting.done()
        assert {answer.refusal for answer in await waiting} == {AWAY}
        mortal.thaw()
        async with asyncio.timeout(60):
            while (await sign_in(service, "alice")).status != 200:
                pass  # each answer takes as long as the directory, or its time-out
