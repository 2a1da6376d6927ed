"""Users of an HTTP service of the operator's sign in, and are whom it says they are (OIDC Core §2)."""

from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from service.events.users import LoginFailed
from service.identity.passwords import Passwords
from service.identity.sources.guarded_requests import TOLERATED
from tests.conftest import Start
from tests.driving.authority import root
from tests.driving.browser import Browser
from tests.driving.certificate import certified
from tests.driving.client_app import ClientApp
from tests.driving.listening import listening
from tests.driving.service import RunningService
from tests.http_users.people_server import SECRET, PeopleServer, person

pytestmark = [
    pytest.mark.rfc("6749#5.2"),
    pytest.mark.usefixtures("one_store", "always_probing"),
]

REFUSED, AWAY = (400, "invalid_grant"), (503, "temporarily_unavailable")


async def sign_in(service: RunningService, username: str, password: str = "") -> Any:
    form = {"grant_type": "password", "username": username, "scope": "api1"}
    return await service.token("frontend", **form, password=password or f"{username}-password")


async def test_user_signs_in_on_the_page(app: ClientApp, service: RunningService) -> None:
    tokens = await app.tokens(scope="openid email")
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert (await service.get("/connect/userinfo", headers=bearer)).json == {
        "sub": "818727",
        "email": "alice@example.com",
        "email_verified": True,
    }


async def test_address_signs_in_too(service: RunningService, people: PeopleServer) -> None:
    people.answer = web.json_response({"user": person("818727", "alice")})
    assert (await sign_in(service, "Alice@Example.com", "alice-password")).status == 200


async def test_requests_share_a_few_connections(
    service: RunningService, people: PeopleServer, config: dict[str, Any]
) -> None:
    for _ in range(3):
        assert (await sign_in(service, "alice")).status == 200
    assert len(people.connections) == 1
    users = service.features.shared.users
    found = await asyncio.gather(*(users.by_username("alice") for _ in range(50)))
    assert all(found)
    assert len(people.connections) <= config["users"]["max_concurrent"]


async def test_connection_that_the_other_end_has_closed_is_no_failure(
    service: RunningService, people: PeopleServer
) -> None:
    people.is_forgetful = True
    for _ in range(3):
        assert (await sign_in(service, "alice")).status == 200
    assert len(people.connections) > 1


REFUSALS = {
    "wrong": ("alice", "wrong"),
    "unknown": ("mallory", "wrong"),
    "unknown with another's": ("mallory", "alice-password"),
    "disabled": ("carol", "carol-password"),
    "too long": ("alice", "x" * 201),
    "malformed": ("alice", "alice-password\0"),
    "empty": ("alice", ""),
}


@pytest.mark.parametrize(("username", "password"), REFUSALS.values(), ids=list(REFUSALS))
async def test_every_refusal_asks_for_the_same(
    service: RunningService, people: PeopleServer, username: str, password: str
) -> None:
    people.people.append(person("3", "carol", enabled=False))
    local = service.features.local_sign_in
    assert await local.verify(username, password, address="192.0.2.7") is None
    assert [path for path, _ in people.asked] == ["/find", "/verify"]
    assert people.asked[0][1] == {"username": username}


async def test_every_refusal_reads_alike_and_takes_as_long_as_a_wrong_password(
    service: RunningService, people: PeopleServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other service may compute a hash only for those that it knows."""
    people.people.append(person("3", "carol", enabled=False))
    evened, seen = list[bool](), set[tuple[Any, ...]]()

    async def even_out(_: Passwords, __: float, *, full_cost: bool) -> None:
        evened.append(full_cost)

    monkeypatch.setattr(Passwords, "even_out", even_out)
    for username, password in (REFUSALS[name] for name in ("wrong", "unknown", "disabled")):
        refused = await sign_in(service, username, password)
        browser = Browser(service.issuer)
        page = await browser.log_in(await browser.get("/account"), username, password=password)
        await browser.close()
        seen.add((refused.status, refused.body, page.status, page.text_of("login-error")))
    assert len(seen) == 1
    assert evened == [True, True, False, False, False, False]


async def test_password_of_an_unknown_user_is_not_sent(
    service: RunningService, people: PeopleServer
) -> None:
    """It may be somebody's who mistyped the name."""
    await sign_in(service, "mallory", "alice-password")
    (_, question) = people.asked[1]
    assert question["sub"] is None
    assert question["password"] != "alice-password"


async def test_accepted_password_of_an_unknown_user_is_refused(
    service: RunningService, people: PeopleServer
) -> None:
    users = service.features.shared.users
    for user, password in ((None, "x"), (await users.by_username("alice"), "")):
        people.answer = web.json_response({"valid": True})
        assert not await users.verify_password("alice", password, user)


async def test_another_spelling_is_unknown(service: RunningService, people: PeopleServer) -> None:
    """A service that overlooks spaces would let each spelling have its own count of failures."""
    people.answer = web.json_response({"user": person("818727", "alice")})
    assert (await sign_in(service, "ali ce", "alice-password")).refusal == REFUSED


async def test_disabled_or_deleted_user_loses_every_token(
    service: RunningService, people: PeopleServer
) -> None:
    for gone in ([person("818727", "alice", enabled=False)], []):
        people.people = [person("818727", "alice")]
        token = (await sign_in(service, "alice"))["access_token"]
        assert await service.is_active(token)
        people.people = gone
        assert not await service.is_active(token)


async def test_identity_finds_the_user_that_lists_it(
    config: dict[str, Any], people: PeopleServer, start: Start
) -> None:
    config["users"]["http"]["identities"] = True
    users = (await start(config)).features.shared.users
    mine = {"provider": "corp", "subject": "A-1"}
    for listed, is_found in (([mine], True), ([mine | {"subject": "a-1"}], False), ([], False)):
        answer = {"user": person("818727", "alice", identities=listed)}
        people.answer = web.json_response(answer)
        found = await users.by_identity("corp", "A-1")
        assert people.asked[-1] == ("/find", {"identity": mine})
        assert (found is not None) == is_found


async def test_service_that_knows_no_identities_is_not_asked_for_them(
    service: RunningService, people: PeopleServer
) -> None:
    assert await service.features.shared.users.by_identity("corp", "A-1") is None
    assert people.asked == []


async def test_address_that_is_not_verified_finds_no_user(
    service: RunningService, people: PeopleServer
) -> None:
    users = service.features.shared.users
    assert await users.by_email("Alice@example.com") is not None
    people.people = [person("1", "x", claims={"email": "alice@example.com"})]
    assert await users.by_email("alice@example.com") is None
    people.answer = web.json_response({"user": None, "several": True})
    assert await users.by_email("alice@example.com") == "several"


async def test_name_of_several_users_is_refused_and_logged_once(
    service: RunningService, people: PeopleServer
) -> None:
    for answer in ({"user": None}, {"user": person("818727", "alice")}):
        people.answer = web.json_response(answer | {"several": True})
        with capture_logs() as logged:
            assert (await sign_in(service, "alice")).refusal == REFUSED
        (warned,) = [line for line in logged if line["log_level"] == "warning"]
        assert (warned["same"], "alice" in str(warned)) == ("username", False)


@pytest.mark.rfc("openid-core#2")
async def test_user_whose_sub_is_beyond_ascii_signs_in_nowhere_and_is_logged(
    service: RunningService, people: PeopleServer
) -> None:
    people.people = [person("é", "alice")]
    with capture_logs() as logged:
        assert (await sign_in(service, "alice")).refusal == REFUSED
    assert "ASCII" in str(logged)
    assert await service.features.shared.users.by_subject("é") is None


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 404},
        {"status": 401},
        {"status": 500},
        {"status": 302, "headers": {"Location": "/elsewhere"}},
        {"text": "null"},
        {"text": "{}"},
        {"text": '{"user": {}}'},
        {"text": "<html>"},
        {"text": json.dumps({"user": person("", "alice")})},
        {"text": json.dumps({"user": person("x" * 256, "alice")})},
        {"text": json.dumps({"user": person("818727", "alice", enabled="yes")})},
        {"text": json.dumps({"user": person("1", "alice")})},
        {"body": b"\xff"},
        {"text": '{"user": null}' + " " * (1 << 20)},
    ],
    ids=[
        *("404", "401", "500", "redirect", "null", "nothing", "no members", "HTML", "empty sub"),
        *("long sub", "text for true", "another sub", "no UTF-8", "too long"),
    ],
)
async def test_answer_that_is_none_is_an_absence(
    service: RunningService, people: PeopleServer, events: list[object], answer: dict[str, Any]
) -> None:
    """Nothing but the answer that says so makes a token inactive or a user unknown."""
    token = (await sign_in(service, "alice"))["access_token"]
    people.answer = web.Response(**answer)
    with capture_logs() as logged:
        assert (await service.introspect(token)).refusal == AWAY
    assert SECRET not in str(logged)
    assert await service.is_active(token)
    assert not any(isinstance(event, LoginFailed) for event in events)


async def test_answer_on_a_password_that_is_none_is_no_wrong_password(
    service: RunningService, people: PeopleServer, events: list[object]
) -> None:
    users = service.features.shared.users
    user = await users.by_username("alice")
    for text in ("{}", '{"valid": "true"}', '{"valid": 1}', "true"):
        people.answer = web.Response(text=text)
        with pytest.raises(Exception, match="no usable answer"):
            await users.verify_password("alice", "alice-password", user)
    assert not any(isinstance(event, LoginFailed) for event in events)


@pytest.mark.usefixtures("never_probing")
@pytest.mark.parametrize("status", [400, 403, 404, 413, 414, 422])
async def test_value_that_the_service_rejects_is_unknown_and_affects_no_other_user(
    service: RunningService, people: PeopleServer, events: list[object], status: int
) -> None:
    people.refused, people.status = "😀", status
    for name, password in (("😀", "x"), ("alice", "😀")):
        for _ in range(TOLERATED + 1):
            assert (await sign_in(service, name, password)).refusal == REFUSED
    failed = [event.reason for event in events if isinstance(event, LoginFailed)]
    assert failed[: TOLERATED + 2] == ["unknown"] * (TOLERATED + 1) + ["wrong_password"]
    assert (await sign_in(service, "bob")).status == 200


@pytest.mark.usefixtures("never_probing")
@pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
async def test_service_that_refuses_every_request_is_available_and_makes_no_user_unknown(
    service: RunningService, people: PeopleServer, events: list[object], status: int
) -> None:
    token = (await sign_in(service, "alice"))["access_token"]
    people.refused, people.status = "", status
    for _ in range(TOLERATED + 1):
        assert (await sign_in(service, "bob")).refusal == AWAY
        assert (await service.introspect(token)).refusal == AWAY
    assert not any(isinstance(event, LoginFailed) for event in events)
    people.refused = None
    assert (await sign_in(service, "bob")).status == 200


class TestMutualTls:
    """This service shows a certificate."""

    @pytest.mark.rfc("8446#4.4.2")
    async def test_certificate_is_shown_and_read_again_when_it_has_changed(
        self, start: Start, config: dict[str, Any], people: PeopleServer, tmp_path: Path
    ) -> None:
        ours = root("CN=ours")
        own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        loopback = certified(tmp_path)
        own.load_cert_chain(loopback)
        own.verify_mode = ssl.CERT_REQUIRED
        own.load_verify_locations(cadata=ours.pem)
        file = root("CN=stranger").issue().write(tmp_path / "own.pem")
        async with listening(people.serve, tls=own) as origin:
            http = config["users"]["http"]
            http |= {"find_url": f"{origin}/find", "verify_url": f"{origin}/verify"}
            http["certificate"] = str(file)
            service = await start(config | {"outgoing": {"ca_file": str(loopback)}})
            assert (await sign_in(service, "alice")).refusal == AWAY
            ours.issue("CN=token-service").write(file)
            assert (await sign_in(service, "alice")).status == 200


@pytest.mark.rfc("openid-core#5.1")
async def test_pages_show_a_user_whose_name_is_no_text_by_the_user_name(
    browser: Browser, people: PeopleServer
) -> None:
    people.people.append(person("3", "carol", claims={"name": ["Carol"], "tenant": {"a": "b"}}))
    page = await browser.log_in(await browser.get("/account"), "carol")
    assert "<strong>carol</strong>" in page.text
