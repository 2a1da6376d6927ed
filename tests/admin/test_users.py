"""The admin API shows users of every source, with their sessions, grants and second factors, page by page."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from service.clock import clock as now
from service.identity.sign_in import SignIn
from service.model.factors import Factors, Passkey, Totp
from service.model.handle import digest, new_selector
from service.model.user import LOCAL
from tests.admin.conftest import ALICE, Admin
from tests.admin.test_clients_and_apis import pages
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

SECRET = "JBSWY3DPEHPK3PXP"


def sign_in(sub: str) -> SignIn:
    """A sign-in by password, a moment ago."""
    return SignIn(
        subject=sub, idp=LOCAL, amr=("pwd",), auth_time=now(), remember=False, user_claims={}
    )


async def start_sessions(service: RunningService, sub: str, count: int) -> set[str]:
    """Begin sessions of a user, and return their ids."""
    sessions = service.features.shared.sessions
    started = [
        await sessions.start(sign_in(sub), previous=None, user_agent="Firefox")
        for _ in range(count)
    ]
    return {session.id for session, _ in started}


@pytest.mark.parametrize("by", ["username=alice", "sub=818727", "email=alice%40example.com"])
async def test_user_is_found(admin: Admin, by: str) -> None:
    answer = await admin("GET", f"/admin/users?{by}")
    assert answer.status == 200
    assert [user["sub"] for user in answer["items"]] == [ALICE]


async def test_search_without_a_match_is_an_empty_page(admin: Admin) -> None:
    answer = await admin("GET", "/admin/users?username=nobody")
    assert (answer.status, answer["items"]) == (200, [])


@pytest.mark.parametrize("query", ["", "?username=a&sub=b", "?username="])
async def test_search_is_by_exactly_one_property(admin: Admin, query: str) -> None:
    answer = await admin("GET", f"/admin/users{query}")
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"] == "exactly one of username, email and sub is needed"


async def test_user_is_shown_without_the_password_hash(admin: Admin) -> None:
    answer = await admin("GET", f"/admin/users/{ALICE}")
    assert (answer["username"], answer["source"], answer["enabled"]) == ("alice", "file", True)
    assert answer["password"] == "argon2"
    assert b"$argon2" not in answer.body


@pytest.mark.parametrize("path", ["", "/sessions", "/grants", "/factors"])
async def test_unknown_user_is_not_found(admin: Admin, path: str) -> None:
    assert (await admin("GET", f"/admin/users/nobody{path}")).refusal == (404, "not_found")


@pytest.mark.parametrize("path", ["sessions", "grants"])
@pytest.mark.parametrize("id_", ["nothing", "AAAAAAAAAAAAAAAA", "%2e%2e"])
async def test_unknown_id_is_not_found(admin: Admin, path: str, id_: str) -> None:
    assert (await admin("GET", f"/admin/{path}/{id_}")).refusal == (404, "not_found")


async def test_session_and_grant_of_a_sign_in_are_shown(admin: Admin, app: ClientApp) -> None:
    await app.tokens()
    (session,) = (await admin("GET", f"/admin/users/{ALICE}/sessions"))["items"]
    (grant,) = (await admin("GET", f"/admin/users/{ALICE}/grants"))["items"]
    assert (session["idp"], session["amr"], session["sub"]) == ("local", ["pwd"], ALICE)
    assert (grant["client_id"], grant["session_id"]) == ("web", session["id"])
    assert (await admin("GET", f"/admin/sessions/{session['id']}")).json == session
    assert (await admin("GET", f"/admin/grants/{grant['id']}")).json == grant
    user = await admin("GET", f"/admin/users/{ALICE}")
    assert (user["sessions"], user["grants"]) == (1, 1)


async def test_no_id_is_a_bearer_value(admin: Admin, app: ClientApp) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    cookies = [*app.browser.cookies.values()]
    shown = [
        (await admin("GET", f"/admin/users/{ALICE}{path}")).body
        for path in ("", "/sessions", "/grants", "/factors")
    ]
    secrets = [tokens["access_token"], tokens["refresh_token"], *cookies]
    assert not [one for one in secrets for body in shown if one.encode() in body]


async def test_user_of_a_provider_is_shown_by_a_session(
    admin: Admin, service: RunningService
) -> None:
    claims = {"preferred_username": "carol", "tenant": "acme"}
    from_provider = replace(sign_in("corp:7"), idp="corp", user_claims=claims)
    sessions = service.features.shared.sessions
    await sessions.start(from_provider, previous=None, user_agent="")
    answer = await admin("GET", "/admin/users/corp%3A7")
    assert (answer.status, answer["source"], answer["username"]) == (200, "corp", "carol")
    assert answer["tenant"] == "acme"


async def test_pages_hold_each_session_once(admin: Admin, service: RunningService) -> None:
    started = await start_sessions(service, ALICE, 13)
    found = await pages(admin, f"/admin/users/{ALICE}/sessions", 5)
    assert [len(page) for page in found] == [5, 5, 3]
    assert {session["id"] for page in found for session in page} == started


async def test_no_session_is_left_out_when_shown_ones_end(
    admin: Admin, service: RunningService
) -> None:
    started = await start_sessions(service, ALICE, 9)
    first = await admin("GET", f"/admin/users/{ALICE}/sessions?limit=4")
    sessions = service.features.shared.sessions
    for shown in first["items"]:
        session = await sessions.find_by_id(shown["id"])
        assert session is not None
        await sessions.end(session)
    rest = await admin("GET", f"/admin/users/{ALICE}/sessions?limit=5&cursor={first['next']}")
    ids = {one["id"] for one in (*first["items"], *rest["items"])}
    assert (ids, rest["next"]) == (started, None)


async def test_page_of_ten_thousand_sessions_takes_few_commands(
    admin: Admin, service: RunningService
) -> None:
    stores = service.features.shared.stores
    key, ends_at = stores.subject_sessions.key(digest(ALICE)), now() + 3600
    for first in range(0, 10_000, 500):
        listed = ((ends_at + at, new_selector()) for at in range(first, first + 500))
        await stores.kv.write(("ZADD", key, *(part for one in listed for part in one)))
    await start_sessions(service, ALICE, 1)
    asked: list[int] = []
    ask = stores.kv._ask  # noqa: SLF001 - counts what reaches the store

    async def count(channel: Any, commands: Any, *others: Any) -> Any:
        asked.append(len(commands))
        return await ask(channel, commands, *others)

    stores.kv._ask = count  # type: ignore[method-assign,assignment]  # noqa: SLF001
    answer = await admin("GET", f"/admin/users/{ALICE}/sessions?limit=200")
    assert answer.status == 200
    assert max(asked) <= 50
    assert sum(asked) < 430


async def test_factors_are_shown_without_their_secrets(
    admin: Admin, service: RunningService
) -> None:
    passkey = Passkey(
        credential_id="Y3JlZGVudGlhbA",
        public_key="cHVibGlj",
        user_handle="aGFuZGxl",
        sign_count=0,
        backup_eligible=True,
        name="Laptop",
        created_at=now(),
    )
    enrolled = Factors(
        totp=Totp(secret=SECRET, name="Phone", created_at=now()),
        passkeys=(passkey,),
        recovery_codes=("c" * 43, "d" * 43),
    )
    await service.features.shared.factors.change(ALICE, lambda _: enrolled)
    answer = await admin("GET", f"/admin/users/{ALICE}/factors")
    kinds = [(one["kind"], one["name"], one["remaining"]) for one in answer["items"]]
    assert kinds == [
        ("otp", "Phone", None),
        ("passkey", "Laptop", None),
        ("recovery_codes", None, 2),
    ]
    for secret in (SECRET, "Y3JlZGVudGlhbA", "cHVibGlj", "aGFuZGxl", "c" * 43):
        assert secret.encode() not in answer.body
    user = await admin("GET", f"/admin/users/{ALICE}")
    assert user["factors"] == ["otp", "passkey", "recovery_codes"]


async def test_lock_after_wrong_codes_is_shown(admin: Admin, service: RunningService) -> None:
    guesses = service.features.shared.guesses
    for _ in range(10):
        await guesses.take(ALICE)
    answer = await admin("GET", f"/admin/users/{ALICE}")
    assert answer["factors_locked_until"].endswith("Z")
