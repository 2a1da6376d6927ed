"""All that a user has ends at once, also what is begun at that moment, at however many replicas (draft-parecki-oauth-global-token-revocation-06 §3.3)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.ciba.consumption import Device, ciba_client
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, claims_in

ALICE = "818727"
ROUNDS = 10


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["clients"].append(ciba_client("till", client_in(config, "web")["client_secrets"]))
    return config


async def race(replicas: list[RunningService], *begun: Callable[[], Awaitable[Any]]) -> list[Any]:
    """Begin some things, and end all of alice's among them, at another replica; what came of the former."""
    middle = len(begun) // 2
    tasks = [one() for one in begun]
    tasks.insert(middle, replicas[-1].features.shared.user_ending.end(ALICE))
    done = await asyncio.gather(*tasks)
    return done[:middle] + done[middle + 1 :]


async def require_nothing_until(second: int, service: RunningService) -> None:
    """Whatever alice has is of later sign-ins: on a busy machine some are begun after the end."""
    shared = service.features.shared
    for session in await shared.sessions.find_all_of(ALICE):
        assert session.auth_time > second
    for granted in await shared.authorizations.find_all_of(ALICE):
        assert (granted.auth_time or 0) > second


async def refuse_all(service: RunningService, app: ClientApp, answers: list[Answer]) -> None:
    """Nothing of these answers is left, whether the token came before the end or after it."""
    for answer in answers:
        assert answer.status in {200, 400}, answer.body
        if answer.status == 200:
            assert not await service.is_active(answer["access_token"])
            if "refresh_token" in answer.json:
                refused = await app.refresh(answer["refresh_token"])
                assert refused.refusal == (400, "invalid_grant")


async def test_codes_that_are_redeemed_meanwhile_leave_no_token(
    replicas: list[RunningService],
) -> None:
    browser = Browser(replicas[0].issuer)
    app = ClientApp(replicas[0], browser)
    for _ in range(ROUNDS):
        codes = [await app.code(scope="openid api1 offline_access") for _ in range(6)]
        answers = await race(replicas, *[lambda code=code: app.redeem(code) for code in codes])
        await refuse_all(replicas[0], app, answers)
        # A sign-in in the second of the end is refused, too.
        await asyncio.sleep(1 - time.time() % 1)
    await browser.close()


async def test_refreshes_meanwhile_leave_no_token(replicas: list[RunningService]) -> None:
    browser = Browser(replicas[0].issuer)
    app = ClientApp(replicas[0], browser)
    held = [
        (await app.tokens(scope="openid api1 offline_access"))["refresh_token"] for _ in range(8)
    ]
    answers = await race(replicas, *[lambda one=one: app.refresh(one) for one in held])
    await refuse_all(replicas[0], app, answers)
    await browser.close()


async def test_passwords_that_are_sent_meanwhile_leave_no_token(
    replicas: list[RunningService],
) -> None:
    begun = [lambda: replicas[0].user_token("frontend", "api1 offline_access") for _ in range(12)]
    second = int(time.time())
    answers = await race(replicas, *begun)
    assert {answer.status for answer in answers} <= {200, 400}
    await require_nothing_until(second, replicas[0])
    for answer in [one for one in answers if one.status == 200]:
        claims = claims_in(answer["access_token"])
        assert claims["iat"] > second or not await replicas[0].is_active(answer["access_token"])


async def test_sign_ins_that_are_on_their_way_leave_no_session(
    replicas: list[RunningService],
) -> None:
    browsers = [Browser(replicas[0].issuer) for _ in range(6)]
    apps = [ClientApp(replicas[0], browser) for browser in browsers]
    pages = [await app.authorize() for app in apps]
    begun = [
        lambda app=app, page=page: app.browser.log_in(page)
        for app, page in zip(apps, pages, strict=True)
    ]
    second = int(time.time())
    for page in await race(replicas, *begun):
        assert page.status in {200, 303, 400}
    await require_nothing_until(second, replicas[0])
    for browser in browsers:
        await browser.close()


async def test_ciba_requests_that_wait_are_refused_once(replicas: list[RunningService]) -> None:
    tills = [Device(service) for service in replicas]
    waiting = [await tills[0].begin() for _ in range(5)]
    ends = await asyncio.gather(
        *[service.features.shared.user_ending.end(ALICE) for service in replicas for _ in range(3)]
    )
    assert max(ended.requests for ended in ends) == 5
    for auth_req_id in waiting:
        assert (await tills[-1].poll(auth_req_id)).refusal == (400, "access_denied")
    again = await replicas[0].features.shared.user_ending.end(ALICE)
    assert (again.sessions, again.grants, again.consents, again.requests) == (0, 0, 0, 0)
