"""A stranger's input to a directory finds nobody else, and discloses nothing (RFC 4515 §3, RFC 4513 §5.1.2, OWASP ASVS 6.3.8)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from service.config.convert import convert
from service.config.schema.ldap import Ldap
from service.identity.passwords import Passwords
from service.identity.sources.ldap.connections import Connections
from tests.conftest import Start
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.driving.slapd import PEOPLE, Slapd
from tests.ldap.people import ALICE
from tests.ldap.test_sign_in import REFUSED, sign_in

pytestmark = [pytest.mark.rfc("4515#3"), pytest.mark.usefixtures("one_store")]

INJECTED = [
    "*",
    "al*",
    "alice)(uid=*",
    "*)(uid=*))(|(uid=*",
    "alice)(|(objectClass=*",
    "\\2a",
    "alice\\",
    "(alice)",
    "alice)%00",
    "&|!",
]


@pytest.mark.parametrize("injected", INJECTED)
async def test_filter_of_a_name_cannot_be_changed(service: RunningService, injected: str) -> None:
    users = service.features.shared.users
    assert await users.by_username(injected) is None
    assert await users.by_subject(injected) is None
    assert (await sign_in(service, injected, "alice-password")).refusal == REFUSED


class TestNameThatIsAFilter:
    """Names and subjects in attributes that hold whatever their owner wrote."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["ldap"] |= {"sub": "cn", "username": ["cn"]}
        return config

    async def test_it_finds_its_owner_alone(self, service: RunningService) -> None:
        users = service.features.shared.users
        for find in (users.by_username, users.by_subject):
            found = await find("*)(uid=*")
            assert found is not None
            assert found.claims["preferred_username"] == "ivan"

    async def test_subject_is_compared_exactly(self, service: RunningService) -> None:
        users = service.features.shared.users
        assert await users.by_subject("Bob Smith") is not None
        assert await users.by_subject("bob smith") is None
        assert await users.by_subject("Bob  Smith") is None


@pytest.mark.rfc("4513#5.1.2")
class TestEmptyPassword:
    """A bind without a password would succeed, as nobody."""

    async def test_page_refuses_it(self, app: ClientApp) -> None:
        page = await app.browser.log_in(await app.authorize(), password="")
        assert page.has("login-error")

    async def test_password_grant_refuses_it(self, service: RunningService) -> None:
        form = {"grant_type": "password", "username": "alice", "scope": "api1"}
        refused = await service.token(
            "frontend", **form, raw="&".join(f"{k}={v}" for k, v in form.items()) + "&password="
        )
        assert refused.refusal == (400, "invalid_request")

    async def test_user_store_refuses_it(self, service: RunningService) -> None:
        users = service.features.shared.users
        user = await users.by_username("alice")
        assert user is not None
        assert not await users.verify_password("alice", "", user)
        assert await users.verify_password("alice", "alice-password", user)

    async def test_connection_never_sends_it(self, directory: Slapd) -> None:
        settings = convert(directory.settings, Ldap)
        connections = Connections(settings, timeout=5, at_once=1)
        for dn, password in ((f"uid=alice,{PEOPLE}", ""), ("", "password")):
            with pytest.raises(ValueError, match="anonymous"):
                await connections.find_refusal(dn, password)


class TestEnumeration:
    """An unknown user, a disabled one and a wrong password get one answer for the same work."""

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The requests to the directory, in order."""
        asked: list[str] = []
        for name in ("search", "find_refusal"):
            original = getattr(Connections, name)

            async def noting(*given: Any, name: str = name, original: Any = original) -> Any:
                asked.append(name)
                return await original(*given)

            monkeypatch.setattr(Connections, name, noting)
        return asked

    @pytest.mark.parametrize(
        ("username", "password"),
        [
            ("bob", "wrong"),
            ("nobody", "wrong"),
            ("nobody", "alice-password"),
            ("nopassword", "wrong"),
            ("disabled", "disabled-password"),
            ("bob", ""),
            ("bob", "x" * 201),
            ("bob", "wrong\0"),
            ("*", "wrong"),
        ],
        ids=[
            *("wrong", "unknown", "unknown with another's", "without password", "disabled"),
            *("empty", "too long", "malformed", "injected"),
        ],
    )
    async def test_every_refusal_asks_the_directory_for_the_same(
        self, start: Start, config: dict[str, Any], asked: list[str], username: str, password: str
    ) -> None:
        config["users"]["ldap"]["username"] = ["uid", "sAMAccountName"]
        service = await start(config)
        local = service.features.local_sign_in
        assert await local.verify(username, password, address="192.0.2.7") is None
        assert asked == ["search", "search", "find_refusal"]

    async def test_every_refusal_on_the_page_is_the_same(self, app: ClientApp) -> None:
        seen = set()
        for username, password in (("bob", "wrong"), ("nobody", "x"), ("nopassword", "x")):
            app.browser.forget_cookies()  # or the page says that there were several
            login = await app.authorize()
            page = await app.browser.log_in(login, username, password=password)
            assert page.has("login-error")
            text = re.sub(r'value="[^"]*"|request=[\w-]+|"challenge": ?"[^"]*"', "", page.text)
            seen.add((page.status, text))
        assert len(seen) == 1

    async def test_a_locked_attempt_asks_for_no_bind(
        self, start: Start, config: dict[str, Any], asked: list[str]
    ) -> None:
        """Nor does it count at the directory, where it could lock the account for everybody."""
        service = await start(config | {"limits": {"login_failures": 2}})
        for _ in range(4):
            assert (await sign_in(service, "alice", "wrong")).refusal == REFUSED
        assert asked.count("find_refusal") == 2

    async def test_unknown_name_takes_as_long_as_a_wrong_password(
        self, service: RunningService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A directory computes a hash only for those that it knows."""
        evened: list[bool] = []

        async def even_out(_: Passwords, __: float, *, full_cost: bool) -> None:
            evened.append(full_cost)

        monkeypatch.setattr(Passwords, "even_out", even_out)
        for username, password in (("nobody", "wrong"), ("bob", ""), ("bob", "wrong")):
            await service.features.local_sign_in.verify(username, password, address="192.0.2.7")
        assert evened == [False, False, True]

    async def test_right_password_shows_how_long_a_refusal_takes(
        self, service: RunningService
    ) -> None:
        assert (await sign_in(service, "alice")).status == 200
        assert len(service.features.local_sign_in.passwords.refusal_times) == 1


async def test_actor_or_subject_that_is_none_is_not_asked_for(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(*_: object) -> None:
        raise AssertionError("the directory has been asked")

    monkeypatch.setattr(Connections, "search", ask)
    users = service.features.shared.users
    for sub in ("frontend", "818727", f"{{{ALICE}}}", ALICE.upper(), "\udcff"):
        assert await users.by_subject(sub) is None
