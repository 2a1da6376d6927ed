"""Users from elsewhere whose system is unavailable: 503 everywhere, never a refusal (RFC 6749 §5.2, RFC 7662 §2.2)."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from structlog.testing import capture_logs

from service.events.users import LoginFailed
from service.identity.sources.guarded_requests import TOLERATED
from tests.conftest import Start
from tests.driving.client_app import ClientApp
from tests.driving.registry import hashed
from tests.driving.service import RunningService
from tests.jwt_bearer.foreign import Partner, partner_entry, presenter_entry
from tests.users.switched import SwitchedUsers

pytestmark = pytest.mark.rfc("6749#5.2")

AWAY = (503, "temporarily_unavailable")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    source = f"{SwitchedUsers.__module__}:{SwitchedUsers.__name__}"
    return config | {"users": {"source": source, "timeout": "30s"}}


@pytest.fixture
def away(store: SwitchedUsers) -> SwitchedUsers:
    store.trouble = ConnectionRefusedError("secret-host is down")
    return store


async def shown(service: RunningService) -> dict[str, float]:
    """Return the metrics of the source."""
    text = (await service.get("/metrics")).body.decode()
    found = re.findall(
        r'^token_service_(users_\w+|outgoing_seconds_count\{purpose="users"\}) (\S+)$',
        text,
        re.MULTILINE,
    )
    return {name: float(value) for name, value in found}


@pytest.mark.usefixtures("always_probing")
async def test_login_page_says_that_the_service_is_unavailable_and_not_that_the_password_is_wrong(
    app: ClientApp, store: SwitchedUsers, events: list[object]
) -> None:
    login = await app.authorize()
    store.trouble = ConnectionRefusedError("secret-host is down")
    for _ in range(7):  # more than the throttle would allow
        page = await app.browser.log_in(login)
        assert (page.status, page.text_of("error")) == AWAY
        assert int(page.headers["Retry-After"]) > 0
        assert "secret-host" not in page.text
    store.trouble = None
    assert "code" in (await app.browser.log_in(login)).parameters
    assert not any(isinstance(event, LoginFailed) for event in events)


@pytest.mark.usefixtures("always_probing", "one_store")
async def test_tokens_are_neither_issued_nor_refused(
    service: RunningService, store: SwitchedUsers
) -> None:
    issued = await service.user_token("frontend", "openid api1 offline_access")
    store.trouble = TimeoutError()
    bearer = {"Authorization": f"Bearer {issued['access_token']}"}
    refresh = {"grant_type": "refresh_token", "refresh_token": issued["refresh_token"]}
    assert (await service.user_token("frontend")).refusal == AWAY
    assert (await service.introspect(issued["access_token"])).refusal == AWAY
    assert (await service.get("/connect/userinfo", headers=bearer)).refusal == AWAY
    assert (await service.token("frontend", **refresh)).refusal == AWAY
    store.trouble = None
    assert await service.is_active(issued["access_token"])
    assert (await service.token("frontend", **refresh)).status == 200


@pytest.mark.usefixtures("never_probing", "one_store")
async def test_unavailable_system_does_not_get_every_request(
    service: RunningService, away: SwitchedUsers
) -> None:
    for _ in range(TOLERATED + 5):
        assert (await service.user_token("frontend")).refusal == AWAY
    assert away.asked == TOLERATED
    metrics = await shown(service)
    assert metrics["users_circuit_open"] == 1
    assert metrics["users_failures_total"] == TOLERATED
    assert metrics['outgoing_seconds_count{purpose="users"}'] == TOLERATED


@pytest.mark.usefixtures("always_probing", "one_store")
async def test_a_system_that_is_back_is_used_again(
    service: RunningService, away: SwitchedUsers
) -> None:
    for _ in range(TOLERATED):
        await service.user_token("frontend")
    away.trouble = None
    assert (await service.user_token("frontend")).status == 200
    assert (await shown(service))["users_circuit_open"] == 0


@pytest.mark.usefixtures("never_probing", "one_store")
async def test_an_unforeseen_failure_is_503_and_does_not_count_as_absence(
    service: RunningService, store: SwitchedUsers
) -> None:
    store.trouble = ZeroDivisionError("an operator's mistake")
    for _ in range(TOLERATED + 1):
        assert (await service.user_token("frontend")).refusal == AWAY
    assert store.asked == TOLERATED + 1


@pytest.mark.usefixtures("never_probing", "one_store")
async def test_value_that_the_system_rejects_is_unknown_and_affects_no_other_user(
    service: RunningService, store: SwitchedUsers, events: list[object]
) -> None:
    store.refused = "hunter2"
    with capture_logs() as logged:
        for _ in range(TOLERATED + 1):
            form = {"grant_type": "password", "username": "hunter2", "password": "hunter2"}
            refused = await service.token("frontend", **form, scope="api1")
            assert refused.refusal == (400, "invalid_grant")
    assert "hunter2" not in str(logged)
    failed = [event.reason for event in events if isinstance(event, LoginFailed)]
    assert failed == ["unknown"] * (TOLERATED + 1)
    assert (await service.user_token("frontend")).status == 200


@pytest.mark.usefixtures("never_probing", "one_store")
async def test_subject_that_the_system_rejects_is_unknown(
    config: dict[str, Any], start: Start
) -> None:
    config["trusted_issuers"] = [partner_entry(subject="{sub}")]
    config["clients"].append(presenter_entry("courier", hashed("courier")))
    partner = Partner(await start(config))
    store = SwitchedUsers.made[-1]
    store.refused = "alice~|"
    for _ in range(TOLERATED + 1):
        assert (await partner.grant(sub=store.refused)).status == 200
    store.trouble = ConnectionRefusedError("host is down")
    assert (await partner.grant(sub=store.refused)).status == 503


@pytest.mark.usefixtures("always_probing", "one_store")
async def test_the_cause_of_the_first_failure_is_in_the_log(
    service: RunningService, store: SwitchedUsers
) -> None:
    store.trouble = ConnectionRefusedError("host is down")
    with capture_logs() as logged:
        assert (await service.user_token("frontend")).refusal == AWAY
    assert [line["cause"] for line in logged if "users.source" in line["event"]] == ["host is down"]


class TestLimits:
    """Of time and of questions at once."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"] |= {"timeout": "1s", "max_concurrent": 2}
        return config

    @pytest.mark.usefixtures("never_probing", "one_store")
    async def test_a_system_that_hangs_is_not_waited_for(
        self, service: RunningService, store: SwitchedUsers
    ) -> None:
        store.hangs = True
        asking = [service.user_token("frontend") for _ in range(8)]
        assert {answer.refusal for answer in await asyncio.gather(*asking)} == {AWAY}
        assert store.most_at_once == 2


class TestCache:
    """Users that need not be asked for each time."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["cache"] = "10s"
        return config

    async def test_a_cached_user_is_not_asked_for_until_the_time_is_over(
        self, service: RunningService, store: SwitchedUsers, clock: Any
    ) -> None:
        token = (await service.user_token("frontend"))["access_token"]
        assert await service.is_active(token)
        asked = store.asked
        store.disable("alice")
        assert await service.is_active(token)
        assert store.asked == asked
        clock.forward(seconds=11)
        assert not await service.is_active(token)

    @pytest.mark.usefixtures("one_store")
    async def test_a_sign_in_asks_for_the_user_as_it_is_now(
        self, service: RunningService, store: SwitchedUsers
    ) -> None:
        assert (await service.user_token("frontend")).status == 200
        store.disable("alice")
        assert (await service.user_token("frontend")).refusal == (400, "invalid_grant")


class TestGrace:
    """Tokens of users who were seen not long ago."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["grace"] = "10m"
        return config

    @pytest.mark.usefixtures("never_probing")
    async def test_tokens_stay_active_at_every_replica_while_logins_fail(
        self, service: RunningService, store: SwitchedUsers, start: Start, config: dict[str, Any]
    ) -> None:
        scope = "openid profile api1 offline_access"
        issued = await service.user_token("frontend", scope)
        store.trouble = TimeoutError()
        assert await service.is_active(issued["access_token"])
        bearer = {"Authorization": f"Bearer {issued['access_token']}"}
        userinfo = await service.get("/connect/userinfo", headers=bearer)
        assert userinfo.json == {"sub": "818727", "name": "Alice"}
        refresh = {"grant_type": "refresh_token", "refresh_token": issued["refresh_token"]}
        assert (await service.token("frontend", **refresh)).status == 200
        assert (await service.user_token("frontend")).refusal == AWAY
        if service.features.shared.configuration.store.url.startswith("memory"):
            return
        other = await start({**config, "issuer": service.issuer})
        SwitchedUsers.made[-1].trouble = TimeoutError()
        assert await other.is_active(issued["access_token"])

    @pytest.mark.usefixtures("always_probing", "one_store")
    async def test_a_user_who_was_seen_disabled_or_not_seen_at_all_has_no_grace(
        self, service: RunningService, store: SwitchedUsers
    ) -> None:
        token = (await service.user_token("frontend"))["access_token"]
        assert await service.is_active(token)
        store.disable("alice")
        assert not await service.is_active(token)
        store.trouble = TimeoutError()
        assert (await service.introspect(token)).refusal == AWAY

    @pytest.mark.usefixtures("always_probing")
    async def test_the_grace_ends(
        self, service: RunningService, store: SwitchedUsers, clock: Any
    ) -> None:
        token = (await service.user_token("frontend"))["access_token"]
        store.trouble = TimeoutError()
        assert await service.is_active(token)
        clock.forward(minutes=11)
        assert (await service.introspect(token)).refusal == AWAY

    @pytest.mark.usefixtures("always_probing", "one_store")
    async def test_a_session_of_a_user_who_cannot_be_asked_for_waits(
        self, app: ClientApp, store: SwitchedUsers
    ) -> None:
        await app.login()
        store.trouble = TimeoutError()
        assert (await app.authorize()).parameters["error"] == "temporarily_unavailable"
        account = await app.browser.get(f"{app.service.issuer}/account")
        assert (account.status, account.text_of("error")) == AWAY


@pytest.mark.usefixtures("one_store")
async def test_a_disabled_user_loses_every_token_at_once(
    service: RunningService, store: SwitchedUsers
) -> None:
    token = (await service.user_token("frontend"))["access_token"]
    assert await service.is_active(token)
    store.disable("alice")
    assert not await service.is_active(token)


@pytest.mark.usefixtures("one_store")
async def test_connections_are_closed_at_the_end(start: Start, config: dict[str, Any]) -> None:
    service = await start(config)
    store = SwitchedUsers.made[-1]
    await service.features.shared.users.close()
    assert store.closed
