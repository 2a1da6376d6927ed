"""Writes that a failover must not undo wait for replicas: single uses, and ends of tokens and sessions (docs/operations/redis.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from service.events.event import Event
from service.store import verbs
from service.store.keyvalue import KeyValue
from service.store.verbs import Command
from tests.account.account_page import revoke
from tests.device.tv import TELEVISIONS, Television
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey

pytestmark = pytest.mark.usefixtures("one_store")

Act = Callable[[], Awaitable[object]]
OFFLINE = "openid api1 offline_access"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["clients"] += TELEVISIONS
    return config


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of records in the writes that wait."""
    kinds: list[str] = []
    write = KeyValue.write

    async def note(
        kv: KeyValue, *writes: Command, durable: bool = False, events: Sequence[Event] = ()
    ) -> list[Any]:
        if durable:
            kinds.extend(str(verbs.key_of(each)).split(":")[2] for each in writes)
        return await write(kv, *writes, durable=durable, events=events)

    monkeypatch.setattr(KeyValue, "write", note)
    return kinds


async def use_code(app: ClientApp) -> Act:
    code = await app.code()
    return lambda: app.redeem(code)


async def refresh(app: ClientApp) -> Act:
    tokens = await app.tokens(scope=OFFLINE)
    return lambda: app.refresh(tokens["refresh_token"])


async def prove_key(app: ClientApp) -> Act:
    headers = DpopKey(app.service.issuer).header()
    return lambda: app.service.token("machine", grant_type="client_credentials", headers=headers)


async def allow_device(app: ClientApp) -> Act:
    return (await Television.switch_on(app.service, app.browser)).decide


async def deny_device(app: ClientApp) -> Act:
    television = await Television.switch_on(app.service, app.browser)
    return lambda: television.decide("deny")


async def poll(app: ClientApp) -> Act:
    television = await Television.switch_on(app.service, app.browser)
    await television.decide()
    return television.poll


async def revoke_access_token(app: ClientApp) -> Act:
    token = (await app.tokens())["access_token"]
    return lambda: app.service.post("/connect/revocation", auth="web", token=token)


async def revoke_refresh_token(app: ClientApp) -> Act:
    token = (await app.tokens(scope=OFFLINE))["refresh_token"]
    return lambda: app.service.post("/connect/revocation", auth="web", token=token)


async def log_out(app: ClientApp) -> Act:
    await app.login()
    page = await app.browser.get("/connect/endsession")
    return lambda: app.browser.submit(page)


async def take_back(app: ClientApp) -> Act:
    await app.tokens(scope=OFFLINE)
    return lambda: revoke(app.browser, "web")


ROWS: dict[str, tuple[Callable[[ClientApp], Awaitable[Act]], str]] = {
    "the use of a code": (use_code, "ac"),
    "the use of a refresh token": (refresh, "rt"),
    "the use of a proof": (prove_key, "dp"),
    "the permission of a device": (allow_device, "pd"),
    "the refusal of a device": (deny_device, "pd"),
    "the use of a device code": (poll, "ap"),
    "the revocation of an access token": (revoke_access_token, "rv"),
    "the revocation of a refresh token": (revoke_refresh_token, "az"),
    "a logout": (log_out, "ss"),
    "a grant that is taken back": (take_back, "az"),
}


@pytest.mark.parametrize(("prepare", "record"), ROWS.values(), ids=ROWS)
async def test_what_a_failover_must_not_undo_waits_for_replicas(
    app: ClientApp,
    waited: list[str],
    prepare: Callable[[ClientApp], Awaitable[Act]],
    record: str,
) -> None:
    act = await prepare(app)
    waited.clear()
    await act()
    assert record in waited


async def test_a_login_waits_for_none(app: ClientApp, waited: list[str]) -> None:
    await app.login()
    assert waited == []
