"""CIBA requests: their parameters, their users, and the error for each mistake (CIBA Core §7.1, §7.2, §13)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.ciba.consumption import Device, answer, ref_of
from tests.clients.signing import key_of
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("ciba#7.1", "ciba#7.2", "ciba#13")

LOCKOUT = 901
"""A second more than `limits.lockout`."""


@pytest.mark.rfc("ciba#7.3")
async def test_an_accepted_request_gets_an_id_to_poll_with(till: Device) -> None:
    answer = await till.ask()
    assert answer.status == 200
    assert (answer["expires_in"], answer["interval"]) == (120, 5)
    assert answer["auth_req_id"].startswith("ar_")
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "hint",
    [
        "alice",
        "ALICE",
        "818727",
        "alice@example.com",
        "Alice@Example.com",
        " alice\u200b",
        "\u00a0alice@example.com\t",
    ],
)
async def test_login_hint_is_a_user_name_a_sub_or_a_verified_address(
    till: Device, hint: str
) -> None:
    assert (await till.ask(login_hint=hint)).status == 200


@pytest.mark.parametrize("hint", ["nobody", "bob@example.com", "carol", "5"])
async def test_an_unknown_or_disabled_user_is_unknown_user_id(till: Device, hint: str) -> None:
    assert (await till.ask(login_hint=hint)).refusal == (400, "unknown_user_id")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"login_hint": None}, "invalid_request"),
        ({"id_token_hint": "x.y.z"}, "invalid_request"),
        ({"login_hint": None, "id_token_hint": "x.y.z"}, "invalid_request"),
        ({"login_hint": None, "login_hint_token": "x.y.z"}, "invalid_request"),
        ({"login_hint": "a" * 255}, "invalid_request"),
        ({"login_hint": ["alice", "bob"]}, "invalid_request"),
        ({"scope": None}, "invalid_scope"),
        ({"scope": "api1"}, "invalid_scope"),
        ({"scope": "openid unknown"}, "invalid_scope"),
        ({"scope": "openid api2"}, "invalid_scope"),
        ({"resource": "https://unknown.example"}, "invalid_target"),
        ({"requested_expiry": "0"}, "invalid_request"),
        ({"requested_expiry": "-1"}, "invalid_request"),
        ({"requested_expiry": "soon"}, "invalid_request"),
        ({"requested_expiry": "1.5"}, "invalid_request"),
        ({"requested_expiry": "9" * 5000}, "invalid_request"),
        ({"binding_message": "x" * 101}, "invalid_binding_message"),
        ({"binding_message": "one\ntwo"}, "invalid_binding_message"),
        ({"binding_message": "a\u202eb"}, "invalid_binding_message"),
        ({"binding_message": "  "}, "invalid_binding_message"),
        ({"user_code": "x"}, "invalid_user_code"),
        ({"request": "a.b.c"}, "invalid_request"),
        ({"request_uri": "https://web.example/r"}, "invalid_request"),
        ({"authorization_details": "[]x"}, "invalid_authorization_details"),
    ],
    ids=str,
)
async def test_a_wrong_request_is_refused(
    till: Device, changes: dict[str, Any], error: str
) -> None:
    assert (await till.ask(**changes)).refusal == (400, error)


@pytest.mark.parametrize("message", ["W4SCT", "1234 \U0001f44d 品川", "Pay 30 € – now"])
async def test_a_binding_message_may_have_any_characters_that_are_seen(
    till: Device, message: str
) -> None:
    assert (await till.ask(binding_message=message)).status == 200


@pytest.mark.parametrize(("asked", "given"), [("30", 30), ("600", 600), ("86400", 600)])
async def test_requested_expiry_counts_up_to_the_limit(
    till: Device, asked: str, given: int
) -> None:
    assert (await till.ask(requested_expiry=asked))["expires_in"] == given


async def test_a_client_has_to_authenticate(service: RunningService) -> None:
    wrong = await service.post("/connect/ciba", auth=("till", "wrong"), scope="openid")
    assert wrong.refusal == (401, "invalid_client")
    nobody = await service.post("/connect/ciba", scope="openid", login_hint="alice")
    assert nobody.refusal == (401, "invalid_client")


async def test_a_client_needs_the_grant_type(device_of: Callable[[str], Device]) -> None:
    assert (await device_of("web").ask()).refusal == (400, "unauthorized_client")


async def test_a_client_that_refuses_local_users_is_told_so(
    device_of: Callable[[str], Device],
) -> None:
    assert (await device_of("foreign").ask()).refusal == (403, "access_denied")


async def test_only_a_posted_form_is_a_request(service: RunningService) -> None:
    assert (await service.get("/connect/ciba")).status == 405
    sent = await service.request("POST", "/connect/ciba", json={})
    assert sent.refusal == (415, "invalid_request")


class TestUserCodes:
    """A code without which nobody is disturbed (CIBA Core §7.1)."""

    async def test_a_user_code_is_needed_by_a_user_who_has_one(self, till: Device) -> None:
        assert (await till.ask(login_hint="bob")).refusal == (400, "missing_user_code")

    async def test_a_user_code_is_accepted_if_it_is_right(self, till: Device) -> None:
        assert (await till.ask(login_hint="bob", user_code="code-password")).status == 200

    @pytest.mark.parametrize("code", ["wrong", "x" * 300, "code-password\n"])
    async def test_a_user_code_is_refused_if_it_is_wrong(self, till: Device, code: str) -> None:
        answer = await till.ask(login_hint="bob", user_code=code)
        assert answer.refusal == (400, "invalid_user_code")

    async def test_a_user_code_is_needed_by_a_client_that_registered_it(
        self, device_of: Callable[[str], Device]
    ) -> None:
        assert (await device_of("coded").ask()).refusal == (400, "missing_user_code")

    async def test_a_user_code_cannot_be_guessed(
        self, till: Device, device_of: Callable[[str], Device]
    ) -> None:
        for _ in range(5):
            await till.ask(login_hint="bob", user_code="wrong")
        late = await till.ask(login_hint="bob", user_code="code-password")
        assert late.refusal == (400, "invalid_user_code")
        other = await device_of("other-till").ask(login_hint="bob", user_code="code-password")
        assert other.status == 200

    async def test_a_client_that_guesses_a_user_code_is_locked_for_longer_and_longer(
        self, till: Device, clock: Clock
    ) -> None:
        right = {"login_hint": "bob", "user_code": "code-password"}
        for _ in range(4):
            for _ in range(5):
                await till.ask(login_hint="bob", user_code="wrong")
            clock.forward(seconds=LOCKOUT)
        assert (await till.ask(**right)).refusal == (400, "invalid_user_code")
        clock.forward(seconds=LOCKOUT)
        assert (await till.ask(**right)).status == 200

    async def test_guesses_at_a_user_code_do_not_lock_the_user_out(
        self, till: Device, app: ClientApp
    ) -> None:
        for _ in range(5):
            await till.ask(login_hint="bob", user_code="wrong")
        assert "code" in (await app.login("bob")).parameters


class TestIdTokenHint:
    """The user of an ID token that the client has (CIBA Core §7.1)."""

    @staticmethod
    async def hint(device: Device, browser: Browser) -> str:
        """An ID token that this client got before."""
        auth_req_id = await device.begin()
        await answer(browser, auth_req_id)
        return str((await device.poll(auth_req_id))["id_token"])

    async def test_an_id_token_hint_names_its_user(self, till: Device, browser: Browser) -> None:
        hint = await self.hint(till, browser)
        assert (await till.ask(login_hint=None, id_token_hint=hint)).status == 200

    async def test_an_id_token_hint_may_have_expired(
        self, till: Device, browser: Browser, clock: Clock
    ) -> None:
        hint = await self.hint(till, browser)
        clock.forward(days=3)
        assert (await till.ask(login_hint=None, id_token_hint=hint)).status == 200

    async def test_an_id_token_hint_excludes_another_hint(
        self, till: Device, browser: Browser
    ) -> None:
        hint = await self.hint(till, browser)
        several = await till.ask(id_token_hint=hint, binding_message="x" * 101)
        assert several.refusal == (400, "invalid_request")

    async def test_an_id_token_hint_of_another_client_is_refused(
        self, till: Device, device_of: Callable[[str], Device], browser: Browser
    ) -> None:
        hint = await self.hint(device_of("other-till"), browser)
        refused = await till.ask(login_hint=None, id_token_hint=hint)
        assert refused.refusal == (400, "invalid_request")

    async def test_an_id_token_hint_that_the_client_can_make_itself_is_refused(
        self, device_of: Callable[[str], Device], browser: Browser
    ) -> None:
        device = device_of("hashing")
        hint = await self.hint(device, browser)
        refused = await device.ask(login_hint=None, id_token_hint=hint)
        assert refused.refusal == (400, "invalid_request")


class TestLoginHintToken:
    """A JWT of the client that names the user (CIBA Core §7.1)."""

    @staticmethod
    async def token(till: Device, number: int = 0, **changes: Any) -> str:
        usual = {
            "sub": "818727",
            "aud": till.service.issuer,
            "exp": int(time.time()) + 60,
            "jti": "first",
        }
        claims = {name: value for name, value in (usual | changes).items() if value is not None}
        return await key_of("ES256", number).sign(claims, typ="JWT")

    async def test_a_login_hint_token_names_a_user_by_sub(self, till: Device) -> None:
        hint = await self.token(till)
        assert (await till.ask(login_hint=None, login_hint_token=hint)).status == 200

    async def test_a_login_hint_token_counts_once(self, till: Device) -> None:
        hint = await self.token(till)
        await till.ask(login_hint=None, login_hint_token=hint)
        again = await till.ask(login_hint=None, login_hint_token=hint)
        assert again.refusal == (400, "invalid_request")

    async def test_refusal_does_not_consume_a_login_hint_token(self, till: Device) -> None:
        hint = await self.token(till, sub="88421113")
        sent: dict[str, Any] = {"login_hint": None, "login_hint_token": hint}
        assert (await till.ask(**sent)).error == "missing_user_code"
        assert (await till.ask(**sent, user_code="code-password")).status == 200

    async def test_a_login_hint_token_may_be_too_old(self, till: Device) -> None:
        hint = await self.token(till, exp=int(time.time()) - 60)
        answer = await till.ask(login_hint=None, login_hint_token=hint)
        assert answer.refusal == (400, "expired_login_hint_token")

    @pytest.mark.parametrize(
        ("changes", "error"),
        [
            ({"sub": "nobody"}, "unknown_user_id"),
            ({"sub": None}, "invalid_request"),
            ({"aud": None}, "invalid_request"),
            ({"aud": "https://other.example"}, "invalid_request"),
            ({"exp": None}, "invalid_request"),
            ({"exp": True}, "invalid_request"),
            ({"exp": 99999999999}, "invalid_request"),
            ({"jti": None}, "invalid_request"),
            ({"iss": "web"}, "invalid_request"),
            ({"number": 1}, "invalid_request"),
        ],
        ids=str,
    )
    async def test_a_login_hint_token_is_refused_if_it_is_wrong(
        self, till: Device, changes: dict[str, Any], error: str
    ) -> None:
        hint = await self.token(till, **changes)
        answer = await till.ask(login_hint=None, login_hint_token=hint)
        assert answer.refusal == (400, error)

    async def test_the_refusal_of_a_login_hint_token_names_what_is_wrong(
        self, till: Device
    ) -> None:
        hint = await self.token(till, aud="https://other.example")
        answer = await till.ask(login_hint=None, login_hint_token=hint)
        expected = "the login_hint_token is refused: aud is not this service"
        assert answer["error_description"] == expected


@pytest.mark.rfc("ciba#7.1.1")
class TestSignedRequests:
    """All parameters in a JWT that the client has signed."""

    async def test_signed_requests_count(self, device_of: Callable[[str], Device]) -> None:
        device = device_of("signing")
        signed = await device.request_object(requested_expiry=30)
        answer = await device.ask(scope=None, login_hint=None, request=signed)
        assert (answer.status, answer["expires_in"]) == (200, 30)

    async def test_signed_requests_are_required_of_a_client_that_registered_an_algorithm(
        self, device_of: Callable[[str], Device]
    ) -> None:
        assert (await device_of("signing").ask()).refusal == (400, "invalid_request")

    async def test_signed_requests_count_from_a_client_that_registered_none(
        self, till: Device
    ) -> None:
        signed = await till.request_object()
        assert (await till.ask(scope=None, login_hint=None, request=signed)).status == 200

    async def test_signed_requests_count_once(self, till: Device) -> None:
        sent: dict[str, Any] = {"scope": None, "login_hint": None}
        signed = await till.request_object(jti="one")
        assert (await till.ask(**sent, request=signed)).status == 200
        for again in (signed, await till.request_object(jti="one", binding_message="W4SCT")):
            assert (await till.ask(**sent, request=again)).refusal == (400, "invalid_request")

    async def test_refusal_does_not_consume_signed_requests(self, till: Device) -> None:
        sent: dict[str, Any] = {"scope": None, "login_hint": None}
        wrong = await till.request_object(jti="two", binding_message="\u200b")
        assert (await till.ask(**sent, request=wrong)).error == "invalid_binding_message"
        right = await till.request_object(jti="two")
        assert (await till.ask(**sent, request=right)).status == 200

    @pytest.mark.parametrize("changes", [{"exp": 4200}, {"jti": 7}], ids=str)
    async def test_signed_requests_expire_within_an_hour_and_have_an_id(
        self, till: Device, changes: dict[str, Any]
    ) -> None:
        if "exp" in changes:
            changes = {"exp": int(time.time()) + changes["exp"]}
        signed = await till.request_object(**changes)
        answer = await till.ask(scope=None, login_hint=None, request=signed)
        assert answer.refusal == (400, "invalid_request")

    async def test_signed_requests_exclude_parameters_outside(
        self, device_of: Callable[[str], Device]
    ) -> None:
        device = device_of("signing")
        signed = await device.request_object()
        answer = await device.ask(scope=None, login_hint=None, request=signed, binding_message="x")
        assert answer.refusal == (400, "invalid_request")

    @pytest.mark.parametrize(
        "changes",
        [
            *({name: None} for name in ("iss", "aud", "exp", "iat", "nbf", "jti")),
            {"iss": "other"},
            {"aud": "https://other.example"},
            {"exp": 1},
            {"nbf": 99999999999},
            {"iat": 99999999999},
            {"binding_message": 5},
            {"requested_expiry": [5]},
            {"request": "a.b.c"},
            {"number": 1},
            {"alg": "RS256"},
        ],
        ids=str,
    )
    async def test_signed_requests_are_refused_if_they_are_wrong(
        self, device_of: Callable[[str], Device], changes: dict[str, Any]
    ) -> None:
        device = device_of("signing")
        signed = await device.request_object(**changes)
        answer = await device.ask(scope=None, login_hint=None, request=signed)
        assert answer.refusal == (400, "invalid_request")

    async def test_signed_requests_are_not_signed_by_a_secret(self, till: Device) -> None:
        signed = await till.request_object(alg="HS256")
        answer = await till.ask(scope=None, login_hint=None, request=signed)
        assert answer.refusal == (400, "invalid_request")


@pytest.mark.usefixtures("fresh_minute")
async def test_a_user_is_not_asked_again_and_again(till: Device) -> None:
    answers = [await till.ask() for _ in range(21)]
    assert [answer.status for answer in answers[:20]] == [200] * 20
    assert answers[-1].refusal == (429, "temporarily_unavailable")


async def test_the_audit_log_names_no_id_that_can_poll(till: Device, events: list[object]) -> None:
    auth_req_id = await till.begin(binding_message="W4SCT")
    assert ref_of(auth_req_id) in repr(events)
    assert auth_req_id not in repr(events)
