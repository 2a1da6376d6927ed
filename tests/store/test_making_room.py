"""No index grows without limit: what expires first makes room, and is ended with all that hangs on it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from service.clock import clock
from service.events.authorizations import AuthorizationEnded
from service.events.users import SessionEnded
from service.identity.sign_in import SignIn
from service.model.authorization import Authorization
from service.model.handle import digest
from service.model.session import Session
from service.store.stores import Stores
from service.store.verbs import Read
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registering import RegisteredApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.token_exchange.exchanging import EXCHANGE, exchange

MOST = 3
MORE = 5


@pytest.fixture
def config(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Room for three of everything, and clients whose tokens expire in the order of the file."""
    monkeypatch.setattr("service.store.stores.MAX_MEMBERS", MOST)
    monkeypatch.setattr("service.store.stores.MAX_SESSIONS", MOST)
    usual = client_in(config, "opaque")
    for number in range(MORE):
        config["clients"].append(
            usual | {"client_id": f"opaque{number}", "access_token_lifetime": f"{10 + number}m"}
        )
    usual = client_in(config, "api1")
    for number in range(MORE):
        config["clients"].append(
            usual | {"client_id": f"api1-{number}", "access_token_lifetime": f"{10 + number}m"}
        )
    config["registration"] = {"enabled": True, "allowed_scopes": ["api1"]}
    client_in(config, "frontend")["allowed_grant_types"].append(EXCHANGE)
    rule = {"subject_audience": ["api1"], "requested_token_types": ["refresh_token"]}
    config["token_exchange"] = [
        rule | {"clients": ["frontend"], "scopes": ["api2"], "audiences": ["api2"]}
    ]
    return config


async def test_a_person_with_too_many_grants_loses_those_that_end_first(
    service: RunningService, events: list[object]
) -> None:
    issued = [await token_of(service, f"opaque{number}") for number in range(MORE)]
    active = [await service.is_active(token) for token in issued]
    assert active == [False, False, True, True, True]
    ended = [event.client_id for event in events if isinstance(event, AuthorizationEnded)]
    assert ended == ["opaque0", "opaque1"]
    assert len(await service.features.shared.authorizations.find_all_of("818727")) == MOST


@pytest.mark.parametrize("client_id", ["opaque0", "opaque4"], ids=["for less", "for more"])
async def test_a_client_that_is_granted_too_much_pushes_no_other_out(
    service: RunningService, client_id: str
) -> None:
    others = [await token_of(service, other) for other in ("opaque1", "opaque2")]
    own = [await token_of(service, client_id) for _ in range(MORE)]
    assert [await service.is_active(token) for token in others] == [True, True]
    assert [await service.is_active(token) for token in own] == [False] * (MORE - 1) + [True]


async def token_of(service: RunningService, client_id: str) -> str:
    """A reference token of alice's."""
    answer = await service.token(
        (client_id, "opaque-secret"),
        grant_type="password",
        username="alice",
        password="alice-password",
        scope="api1",
    )
    token: str = answer["access_token"]
    return token


async def test_a_token_that_is_delegated_too_often_loses_those_that_end_first(
    service: RunningService,
) -> None:
    source = (await service.user_token("opaque"))["access_token"]
    delegated = [
        (
            await service.token(
                (f"api1-{number}", "api1-secret"),
                grant_type="delegation",
                token=source,
                scope="api2",
            )
        )["access_token"]
        for number in range(MORE)
    ]
    active = [await service.is_active(token, caller="api2") for token in delegated]
    assert active == [False, False, True, True, True]
    assert await service.is_active(source)


async def test_a_token_that_is_delegated_now_stays_though_it_ends_first(
    service: RunningService,
) -> None:
    source = (await service.user_token("opaque"))["access_token"]
    for number in reversed(range(MORE)):
        answer = await service.token(
            (f"api1-{number}", "api1-secret"), grant_type="delegation", token=source, scope="api2"
        )
        assert await service.is_active(answer["access_token"], caller="api2")


async def test_a_person_with_too_many_refresh_tokens_by_exchange_loses_those_that_end_first(
    service: RunningService,
) -> None:
    source = await token_of(service, "opaque4")
    for _ in range(MORE):
        answer = await exchange(service, source, "frontend", requested_token_type="refresh_token")
        assert answer.status == 200
    assert len(await service.features.shared.authorizations.find_all_of("818727")) == MOST


async def test_a_person_with_too_many_sessions_is_signed_out_where_it_ends_first(
    service: RunningService, events: list[object]
) -> None:
    sessions = [await begun(service, number) for number in range(MORE)]
    found = [
        await service.features.shared.sessions.find_by_id(session.id) is not None
        for session in sessions
    ]
    assert found == [False, False, True, True, True]
    assert len([event for event in events if isinstance(event, SessionEnded)]) == MORE - MOST


async def test_sessions_that_ended_unused_make_room_without_another_end(
    app: ClientApp, clock: Clock, events: list[object]
) -> None:
    for _ in range(MORE):
        clock.forward(hours=11)
        app.browser.forget_cookies()
        assert (await app.login()).parameters["code"]
    assert not [event for event in events if isinstance(event, SessionEnded)]


async def begun(service: RunningService, number: int) -> Session:
    """A session that ends so much later than the others."""
    features = service.features
    now = clock()
    who = SignIn(subject="818727", idp="local", amr=("pwd",), auth_time=now, remember=True)
    sessions = replace(features.shared.sessions, lifetime=60, max_lifetime=60 + number)
    session, _ = await sessions.start(who, previous=None, user_agent="")
    return session


async def test_an_origin_of_too_many_clients_is_known_by_the_others(
    service: RunningService, browser: Browser
) -> None:
    apps = [await RegisteredApp.register(service, browser) for _ in range(MORE)]
    origins = service.features.shared.stores.registered_origins
    name = digest("https://registered.example")
    (count,) = await service.features.shared.kv.write(origins.count(name))
    assert count == MOST
    assert await service.features.origins.includes("https://registered.example")
    assert [(await app.manage("GET")).status for app in apps] == [200] * MORE


async def test_a_new_member_never_makes_room(app: ClientApp, service: RunningService) -> None:
    for number in range(MORE - MOST, MORE):
        await token_of(service, f"opaque{number}")
    assert (await app.redeem(await app.code())).status == 200


async def test_of_requests_that_exceed_a_limit_at_once_few_make_room(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.store.stores.MAX_MEMBERS", 1_000)
    stores = Stores(service.features.shared.kv, prefix="few")
    index = stores.subject_authorizations
    members = [index.add("s", str(one), expires_at=clock() + one + 60) for one in range(1_040)]
    counts = await stores.kv.write(*members)
    surplus = [await stores.find_surplus(index, "s", count=count) for count in counts]
    assert [len(each) for each in surplus[1_000:1_020]] == [21, *[0] * 9, 31, *[0] * 9]
    assert all(surplus[1_020:])


async def test_an_authorization_that_makes_room_reads_few_others(
    service: RunningService, events: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = service.features.shared.stores
    for number in range(MOST):
        await token_of(service, f"opaque{number}")
    read: list[str] = []
    find = stores.authorizations.read

    def note(one: str) -> Read[Authorization]:
        read.append(one)
        return find(one)

    monkeypatch.setattr(stores.authorizations, "read", note)
    await token_of(service, "opaque0")
    assert [type(each) for each in events].count(AuthorizationEnded) == 1
    assert len(read) <= MOST
