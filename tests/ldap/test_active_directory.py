"""Peculiarities of Active Directory: values in parts, and reasons behind `data` (MS-ADTS §3.1.1.3.1.3.3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from service.events.users import LoginFailed
from service.identity.sources.ldap.ranges import MAX_VALUES
from tests.driving.client_app import ClientApp
from tests.driving.fake_directory import FakeDirectory
from tests.driving.service import RunningService
from tests.driving.turns import counted_turns
from tests.ldap.test_sign_in import REFUSED, sign_in

pytestmark = pytest.mark.usefixtures("one_store", "never_probing")

BASE = "DC=example,DC=com"


def groups(count: int) -> list[bytes]:
    return [f"CN=group{at:05},OU=Groups,{BASE}".encode() for at in range(count)]


@pytest.fixture
async def windows() -> AsyncIterator[FakeDirectory]:
    attributes = {
        "sAMAccountName": [b"alice"],
        "objectGUID": [uuid4().bytes_le],
        "memberOf": groups(3),
    }
    fake = FakeDirectory(f"CN=Alice,{BASE}", attributes)
    async with await asyncio.start_server(fake.serve, "127.0.0.1", 0) as server:
        fake.port = server.sockets[0].getsockname()[1]
        yield fake


@pytest.fixture
def config(config: dict[str, Any], windows: FakeDirectory) -> dict[str, Any]:
    config["users"]["ldap"] = {
        "urls": [f"ldap://127.0.0.1:{windows.port}"],
        "starttls": False,
        "base": BASE,
        "username": ["sAMAccountName"],
        "sub": "objectGUID",
        "groups": {"base": f"OU=Groups,{BASE}"},
    }
    return config


@pytest.mark.parametrize("count", [0, 1, 1500, 1501, 4500, 4501])
async def test_user_of_many_groups_is_shown_in_all_of_them(
    service: RunningService, windows: FakeDirectory, count: int
) -> None:
    windows.attributes = {**windows.attributes, "memberOf": groups(count)}
    user = await service.features.shared.users.by_username("alice")
    assert user is not None
    assert user.claims["groups"] == [f"group{at:05}" for at in range(count)]
    assert (await sign_in(service, "alice")).status == 200


async def test_groups_of_a_user_are_read_in_short_turns(
    service: RunningService, windows: FakeDirectory
) -> None:
    windows.attributes = {**windows.attributes, "memberOf": groups(4500)}
    with counted_turns() as turns:
        assert await service.features.shared.users.by_username("alice") is not None
    assert (
        turns.longest < 120_000
    )  # the directory of this test takes most of it, to encode its answer


async def test_user_of_too_many_groups_is_shown_in_none(
    service: RunningService, windows: FakeDirectory
) -> None:
    windows.attributes = {**windows.attributes, "memberOf": groups(MAX_VALUES + 1501)}
    user = await service.features.shared.users.by_username("alice")
    assert user is not None
    assert user.claims["groups"] == []


def said(data: str) -> str:
    return f"80090308: LdapErr: DSID-0C09042F, comment: AcceptSecurityContext error, data {data}, v2580"


REASONS = {
    "52e": "wrong_password",
    "525": "wrong_password",
    "530": "outside_hours",
    "531": "other_workstation",
    "533": "disabled",
    "701": "account_expired",
    "775": "locked_there",
}


@pytest.mark.parametrize(("data", "reason"), REASONS.items())
async def test_reason_of_a_refusal_is_in_the_audit_log_alone(
    app: ClientApp, windows: FakeDirectory, events: list[object], data: str, reason: str
) -> None:
    service = app.service
    windows.refusals = {"known": said(data), "wrong": said("52e")}
    login = await app.authorize()
    known, wrong = [
        await app.browser.log_in(login, "alice", password=password)
        for password in ("known", "wrong")
    ]
    assert known.text_of("login-error") == wrong.text_of("login-error")
    assert (await sign_in(service, "alice", "known")).body == (
        await sign_in(service, "alice", "wrong")
    ).body
    failed = [event.reason for event in events if isinstance(event, LoginFailed)]
    assert failed == [reason, "wrong_password"] * 2


@pytest.mark.parametrize("data", ["532", "773"])
async def test_right_password_that_has_to_be_changed_counts_as_no_guess_and_gets_the_reason(
    app: ClientApp, windows: FakeDirectory, events: list[object], data: str
) -> None:
    windows.refusals = {"old": said(data)}
    login = await app.authorize()
    for _ in range(7):  # more than the throttle would allow
        page = await app.browser.log_in(login, "alice", password="old")
        assert "has expired" in page.text_of("login-error")
    refused = await sign_in(app.service, "alice", "old")
    assert (refused.refusal, "expired" in refused["error_description"]) == (REFUSED, True)
    failed = [event.reason for event in events if isinstance(event, LoginFailed)]
    assert failed == ["password_expired"] * 8
    assert "code" in (await app.browser.log_in(login, "alice", password="new")).parameters
