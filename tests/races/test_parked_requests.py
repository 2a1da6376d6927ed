"""A page's form answers once, however often and at however many replicas it is posted at once (RFC 9700 §4.7)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from service.events.authorizations import ConsentDenied, ConsentGiven
from service.model.handle import name_digest
from service.store.keyvalue import StoreUnavailable
from service.store.verbs import key_of
from tests.conftest import Start
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.refusing_store import refuse_write
from tests.driving.service import Answer, RunningService
from tests.races.test_lost_answers import send_everything_twice

pytestmark = pytest.mark.rfc("9700#4.7")

AT_ONCE = 60


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A store that may be slow: on a busy machine nobody is to be refused for it."""
    config["store"] = {"timeout": "30s"}
    return config


@pytest.fixture
def app(app: ClientApp) -> ClientApp:
    """A client that asks for consent."""
    return ClientApp(app.service, app.browser, "consenting")


async def post_at_once(
    replicas: list[RunningService], browser: Browser, page: Page, form: dict[str, str]
) -> list[Answer]:
    """The page's form, many times, at every replica."""
    headers = {"Cookie": browser.cookie_header}
    fields = dict(page.forms[0].fields) | form
    posts = [
        replicas[n % len(replicas)].post(page.path, headers=headers, **fields)
        for n in range(AT_ONCE)
    ]
    return await asyncio.gather(*posts)


def winner_of(answers: list[Answer]) -> Answer:
    """The one answer that leads on; all others are pages that say why they do not."""
    won = [answer for answer in answers if answer.status == 303]
    lost = [answer for answer in answers if answer.status == 400]
    assert (len(won), len(lost)) == (1, AT_ONCE - 1)
    assert all(b"was answered already" in answer.body for answer in lost)
    return won[0]


@pytest.mark.parametrize("action", ["allow", "deny"])
async def test_one_of_many_posts_of_a_consent_form_wins(
    start: Start, config: dict[str, Any], app: ClientApp, store_url: str, action: str
) -> None:
    replicas = [app.service]
    if not store_url.startswith("memory"):
        config["issuer"] = app.service.issuer
        replicas.append(await start(config))
    page = await app.login()
    answers = await post_at_once(replicas, app.browser, page, {"action": action})
    wanted = "code=" if action == "allow" else "error=access_denied"
    assert wanted in winner_of(answers).headers["Location"]
    events = [event for replica in replicas for event in replica.events]
    assert len([one for one in events if isinstance(one, ConsentGiven | ConsentDenied)]) == 1


async def test_one_of_many_posts_of_a_login_form_wins(app_of: Any) -> None:
    app = app_of("web")
    page = await app.authorize()
    form = {"username": "alice", "password": "alice-password", "action": "login"}
    answers = await post_at_once([app.service], app.browser, page, form)
    assert "code=" in winner_of(answers).headers["Location"]
    shared = app.service.features.shared
    listed = shared.stores.subject_authorizations.members(name_digest("818727"))
    (grants,) = await shared.kv.read_members(listed)
    assert len(grants) == 1


async def test_every_post_of_a_login_form_gets_the_session_that_it_has_begun(app_of: Any) -> None:
    app = app_of("web")
    await app.login()
    page = await app.authorize(prompt="login")
    fields = dict(page.forms[0].fields) | {"username": "alice", "password": "alice-password"}
    sent = {"Cookie": app.browser.cookie_header}
    posts = [app.service.post(page.path, headers=sent, **fields) for _ in range(2)]
    answers = await asyncio.gather(*posts)
    assert sorted(answer.status for answer in answers) == [303, 400]
    set_cookies = [answer.headers.getall("Set-Cookie", []) for answer in answers]
    sessions = [one for each in set_cookies for one in each if one.startswith("sid_")]
    assert len(sessions) == 2
    found = [await _find_user(app, one.partition(";")[0]) for one in sessions]
    assert sorted(found) == [False, True]


async def _find_user(app: ClientApp, cookie: str) -> bool:
    """Return whether somebody is signed in with this cookie of a session."""
    asked = "/connect/authorize?" + app.url(prompt="none").partition("?")[2]
    answer = await app.service.get(asked, headers={"Cookie": cookie})
    return "code=" in answer.headers["Location"]


async def test_only_one_logout_goes_back_to_the_client(app: ClientApp) -> None:
    app = ClientApp(app.service, app.browser)
    await app.login()
    asked = "client_id=web&post_logout_redirect_uri=https://web.example/bye&state=s"
    page = await app.browser.get(f"/connect/endsession?{asked}")
    answers = await post_at_once([app.service], app.browser, page, {})
    assert sorted(answer.status for answer in answers) == [200] * (AT_ONCE - 1) + [303]
    assert not (await app.authorize()).parameters.get("code")


async def test_a_store_that_refuses_the_answer_leaves_the_request_waiting(
    app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await app.login()
    refuse_write(app.service.features.shared.kv, monkeypatch, of=":pa")
    assert (await app.browser.submit(page, action="allow")).error == "temporarily_unavailable"
    assert "code" in (await app.browser.submit(page, action="allow")).parameters


async def test_a_lost_note_of_the_sign_in_leaves_the_request_waiting(
    app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await app.authorize()
    kv = app.service.features.shared.kv
    write = kv.write

    async def lose_note(*writes: Any, durable: bool = False) -> Any:
        answers = await write(*writes, durable=durable)
        if any(":pk" in str(key_of(one)) for one in writes):
            monkeypatch.undo()
            raise StoreUnavailable("the store cannot be reached")
        return answers

    monkeypatch.setattr(kv, "write", lose_note)
    assert (
        await app.browser.submit(page, username="alice", password="alice-password")
    ).error == "temporarily_unavailable"
    page = await app.browser.submit(page, username="alice", password="alice-password")
    assert "code" in (await app.browser.submit(page, action="allow")).parameters


async def test_the_store_clients_own_retry_is_no_second_answer(
    app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await app.login()
    send_everything_twice(app.service, monkeypatch)
    assert "code" in (await app.browser.submit(page, action="allow")).parameters


async def test_a_later_answer_learns_that_the_request_was_answered(app: ClientApp) -> None:
    page = await app.login()
    await app.browser.submit(page, action="allow")
    for late in (await app.browser.submit(page, action="allow"), await app.browser.get(page.url)):
        assert (late.status, late.error) == (400, "invalid_request")
        assert "was answered already" in late.text_of("error-description")
