"""A session lasts while it is used, ends with its tokens, and gets a new cookie at each sign-in."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import time_machine
from msgspec.structs import replace

from service.events.users import SessionEnded, SessionStarted
from service.identity.sessions import Sessions
from service.identity.sign_in import SignIn
from service.model.authorization import Authorization
from service.model.handle import digest, new_selector
from service.model.session import Session
from service.store.stores import Stores
from tests.identity.people import now, on_embedded

HOUR, DAY = 3600, 24 * 3600
ALICE = SignIn(subject="818727", idp="local", amr=("pwd",), auth_time=1_790_000_000)
BOB = replace(ALICE, subject="2")


@pytest.fixture
def sessions(stores: Stores, events: list[object]) -> Sessions:
    return Sessions(
        stores=stores,
        lifetime=10 * HOUR,
        max_lifetime=30 * DAY,
        ended=asyncio.Event(),
        emit=events.append,
    )


async def start(
    sessions: Sessions,
    sign_in: SignIn = ALICE,
    *,
    previous: Session | None = None,
    remember: bool = False,
) -> tuple[Session, str]:
    sign_in = replace(sign_in, remember=remember)
    return await sessions.start(sign_in, previous=previous, user_agent="curl")


async def grant(stores: Stores, session: Session, *scope: str) -> Authorization:
    authorization = Authorization(
        id=new_selector(),
        client_id="web",
        scope=frozenset(scope),
        subject=session.subject,
        session_id=session.id,
        created_at=now(),
    )
    expiry: dict[str, Any] = {"expires_at": now() + HOUR}
    await stores.kv.write(
        stores.authorizations.put(authorization, authorization.id, ttl=HOUR),
        stores.session_authorizations.add(session.id, authorization.id, **expiry),
        stores.subject_authorizations.add(digest(session.subject), authorization.id, **expiry),
    )
    return authorization


async def test_the_cookie_finds_the_session(sessions: Sessions, events: list[object]) -> None:
    session, cookie = await start(sessions)
    assert await sessions.find(cookie) == session
    assert events == [
        SessionStarted(session_id=session.id, subject="818727", idp="local", amr=("pwd",))
    ]


async def test_the_store_does_not_hold_the_cookie(sessions: Sessions, stores: Stores) -> None:
    session, cookie = await start(sessions)
    stored = await stores.kv.get(stores.sessions.key(session.id))
    assert stored is not None
    assert cookie.encode() not in stored


@pytest.mark.parametrize("forged", ["", "ss_", "x" * 68, "ss_ü", "another's"])
async def test_a_forged_cookie_finds_nothing(sessions: Sessions, forged: str) -> None:
    session, _ = await start(sessions)
    _, other = await start(sessions, BOB)
    cookie = other.replace(other[3:19], session.id) if forged == "another's" else forged
    assert await sessions.find(cookie) is None


async def test_sid_does_not_work_as_a_cookie(sessions: Sessions) -> None:
    session, _ = await start(sessions)
    assert await sessions.find(session.id) is None
    assert await sessions.find_by_id(session.id) == session
    assert await sessions.find_by_id("*") is None


async def test_signing_in_again_keeps_the_sid_and_changes_the_cookie(sessions: Sessions) -> None:
    first, old = await start(sessions)
    again = replace(ALICE, amr=("pwd", "otp"), auth_time=ALICE.auth_time + 60)
    second, new = await start(sessions, again, previous=first)
    assert (second.id, second.amr, second.auth_time) == (first.id, again.amr, again.auth_time)
    assert (await sessions.find(old), await sessions.find(new)) == (None, second)


async def test_another_person_gets_another_session(sessions: Sessions, stores: Stores) -> None:
    alices, _ = await start(sessions)
    authorization = await grant(stores, alices, "openid")
    bobs, _ = await start(sessions, BOB, previous=alices)
    assert bobs.id != alices.id
    assert await sessions.find_by_id(alices.id) is None
    assert await stores.kv.read(stores.authorizations.read(authorization.id)) == (None,)


async def test_a_session_that_ended_meanwhile_is_not_revived(sessions: Sessions) -> None:
    ended, _ = await start(sessions)
    await sessions.end(ended)
    fresh, cookie = await start(sessions, previous=ended)
    assert fresh.id != ended.id
    assert await sessions.find(cookie) == fresh


async def test_parallel_sign_ins_leave_one_cookie(sessions: Sessions) -> None:
    first, _ = await start(sessions)
    begun = await asyncio.gather(*[start(sessions, previous=first) for _ in range(10)])
    found = [await sessions.find(cookie) for _, cookie in begun]
    assert len([session for session in found if session]) == 1


async def test_a_hostile_user_agent_is_cut_and_readable(sessions: Sessions) -> None:
    session, cookie = await sessions.start(
        ALICE, previous=None, user_agent="\udcff\x1b[2J" + "x" * 60_000
    )
    assert session.user_agent == "?" + "?[2J" + "x" * 195
    assert await sessions.find(cookie) == session


@on_embedded
async def test_a_session_ends_unused(
    sessions: Sessions, stopped_clock: time_machine.Traveller
) -> None:
    _, cookie = await start(sessions)
    stopped_clock.shift(10 * HOUR + 1)
    assert await sessions.find(cookie) is None


@on_embedded
async def test_use_prolongs_a_session_until_its_absolute_end(
    sessions: Sessions, stopped_clock: time_machine.Traveller
) -> None:
    session, cookie = await start(sessions)
    for _ in range(82):
        stopped_clock.shift(9 * HOUR)
        assert await sessions.find(cookie) == (session if now() < session.ends_at else None)
        await sessions.touch(session)
    assert session.ends_at == session.started_at + 30 * DAY


@on_embedded
async def test_a_remembered_session_lasts_unused(
    sessions: Sessions, stopped_clock: time_machine.Traveller
) -> None:
    session, cookie = await start(sessions, remember=True)
    await sessions.touch(session)
    stopped_clock.shift(30 * DAY - 1)
    assert await sessions.find(cookie) == session
    stopped_clock.shift(2)
    assert await sessions.find(cookie) is None


async def test_end_of_a_session_ends_its_tokens_but_the_offline_ones(
    sessions: Sessions, stores: Stores, events: list[object]
) -> None:
    session, cookie = await start(sessions)
    online = await grant(stores, session, "openid")
    offline = await grant(stores, session, "openid", "offline_access")
    await sessions.end(session)
    read = stores.authorizations.read
    assert await stores.kv.read(read(online.id), read(offline.id)) == (None, offline)
    assert await sessions.find(cookie) is None
    assert events[-1] == SessionEnded(session_id=session.id, subject=session.subject)


async def test_session_can_be_ended_twice(sessions: Sessions) -> None:
    session, _ = await start(sessions)
    assert [await sessions.end(session) for _ in range(2)] == [(), ()]


async def test_user_sees_the_own_sessions_only(sessions: Sessions) -> None:
    one, _ = await start(sessions)
    later, _ = await start(sessions, replace(ALICE, auth_time=ALICE.auth_time + 1))
    ended, _ = await start(sessions)
    bobs, _ = await start(sessions, BOB)
    await sessions.end(ended)
    assert await sessions.find_all_of(ALICE.subject) == (later, one)
    assert {one.id async for some in sessions.walk_all() for one in some} == {
        one.id,
        later.id,
        bobs.id,
    }


async def test_every_key_of_a_session_has_a_time_to_live(
    sessions: Sessions, stores: Stores
) -> None:
    session, _ = await start(sessions)
    await grant(stores, session, "openid")
    await sessions.end(session)
    assert [key async for key in stores.kv.find_keys("*")] == []
