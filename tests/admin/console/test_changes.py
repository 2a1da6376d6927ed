"""Changes at the console: which users can make them, after which sign-in, and that each is asked for once more (ASVS 4.3, RFC 9470)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from service.admin.console.changes import CHANGES
from service.events.admin import AdminAction
from tests.admin.console.conftest import ALICE, Change, Operator
from tests.admin.console.test_signing_in import refusals
from tests.conftest import Clock, Start
from tests.driving.service import RunningService
from tests.factors.phone import Phone

END = f"/confirm?change=end-sessions&id={ALICE}&back=/"


def actions(events: list[object]) -> list[tuple[str, str, str | None]]:
    """The audited changes, each with who made it, and whose it was."""
    return [
        (one.action, one.actor_client_id, one.actor_subject)
        for one in events
        if isinstance(one, AdminAction)
    ]


async def sessions_of(service: RunningService, subject: str = ALICE) -> int:
    return len(await service.features.shared.sessions.find_all_of(subject))


signed_in = pytest.mark.usefixtures("rita")


@signed_in
async def test_writer_ends_the_sessions_of_a_user(
    operator: Operator, service: RunningService, events: list[object]
) -> None:
    await operator.enter()
    assert await sessions_of(service, "rita") == 1
    page = await operator.confirm("end-sessions", "rita")
    assert (page.status, page.text_of("done")) == (200, "All sessions have ended.")
    assert await sessions_of(service, "rita") == 0
    assert actions(events) == [("end_sessions", "admin-console", ALICE)]


@signed_in
async def test_page_that_asks_says_what_ends_and_whose_it_is(
    operator: Operator, service: RunningService
) -> None:
    await operator.enter()
    (session,) = await service.features.shared.sessions.find_all_of("rita")
    asked = await operator.open(f"/confirm?change=end-session&id={session.id}&back=/")
    assert "Unknown device" in asked.text_of("subject")
    assert "rita" in asked.text_of("whose")
    assert not asked.has("gone")


@pytest.mark.parametrize("change", ["end-session", "end-grant"])
async def test_page_that_asks_says_that_it_has_ended_already(
    operator: Operator, change: str
) -> None:
    await operator.enter()
    asked = await operator.open(f"/confirm?change={change}&id=ended&back=/")
    assert (asked.status, asked.has("gone"), asked.has("whose")) == (200, True, False)


@signed_in
async def test_nothing_changes_before_it_is_confirmed(
    operator: Operator, service: RunningService
) -> None:
    await operator.enter()
    asked = await operator.open("/confirm?change=end-sessions&id=rita&back=/user?sub=rita")
    assert (asked.status, asked.has("do-it"), asked.has("cancel")) == (200, True, True)
    assert await sessions_of(service, "rita") == 1


async def test_reader_is_asked_nothing(rita: Operator, events: list[object]) -> None:
    page = await rita.open(END)
    assert (page.status, page.text_of("error")) == (403, "access_denied")
    assert refusals(events) == [("access_denied", "rita")]


async def test_form_of_a_reader_changes_nothing(
    rita: Operator, service: RunningService, events: list[object]
) -> None:
    page = await rita.open("/")
    assert not page.has("do-it")
    csrf = dict(page.forms[0].fields)["csrf"]
    form = {"csrf": csrf, "change": "end-sessions", "id": "rita", "back": "/"}
    answer = await rita.post(f"{rita.console}/confirm", form)
    assert (answer.status, answer.text_of("error")) == (403, "access_denied")
    assert await sessions_of(service, "rita") == 1
    assert refusals(events) == [("access_denied", "rita")]


@pytest.mark.parametrize("csrf", [None, "", "made-up"])
async def test_form_without_its_anti_forgery_value_changes_nothing(
    operator: Operator, service: RunningService, events: list[object], csrf: str | None
) -> None:
    await operator.enter()
    asked = await operator.open(END)
    answer = await operator.submit(asked, operator.form_of(asked, "/confirm"), csrf=csrf)
    assert (answer.status, answer.text_of("error")) == (403, "invalid_request")
    assert await sessions_of(service) == 1
    assert refusals(events) == [("invalid_request", ALICE)]


async def test_form_of_another_operator_changes_nothing(
    operator: Operator, other: Operator, service: RunningService
) -> None:
    await operator.enter()
    await other.enter()
    asked = await operator.open(END)
    stolen = dict(asked.forms[operator.form_of(asked, "/confirm")].fields)
    answer = await other.post(f"{other.console}/confirm", stolen)
    assert (answer.status, answer.text_of("error")) == (403, "invalid_request")
    assert await sessions_of(service) == 2


@signed_in
async def test_change_after_five_minutes_needs_another_sign_in(
    operator: Operator, service: RunningService, clock: Clock
) -> None:
    await operator.enter()
    clock.forward(minutes=5)
    login = await operator.open("/confirm?change=end-sessions&id=rita&back=/")
    assert login.path == "/account/login"
    asked = await operator.log_in(login)
    assert (asked.path, asked.has("do-it")) == ("/confirm", True)
    await operator.submit(asked, operator.form_of(asked, "/confirm"))
    assert await sessions_of(service, "rita") == 0


@signed_in
async def test_form_that_waited_for_five_minutes_changes_nothing(
    operator: Operator,
    service: RunningService,
    clock: Clock,
    events: list[object],
) -> None:
    await operator.enter()
    asked = await operator.open("/confirm?change=end-sessions&id=rita&back=/")
    clock.forward(minutes=5)
    answer = await operator.submit(asked, operator.form_of(asked, "/confirm"))
    assert (answer.status, answer.text_of("error")) == (403, "access_denied")
    assert await sessions_of(service, "rita") == 1
    assert refusals(events) == [("access_denied", ALICE)]
    again = await operator.open(str(answer.element("continue")["href"]))
    assert again.path == "/account/login"


async def test_later_sign_in_elsewhere_does_not_freshen_the_console(
    operator: Operator, other: Operator, service: RunningService, clock: Clock
) -> None:
    """A cookie that was copied does not gain by what its owner does."""
    await operator.enter()
    clock.forward(minutes=6)
    copied = operator.console_cookie
    login = await operator.get(
        f"{service.issuer}/connect/authorize?client_id=web&response_type=code&scope=openid&prompt=login"
        "&redirect_uri=https://web.example/callback&code_challenge="
        + "a" * 43
        + "&code_challenge_method=S256"
    )
    await operator.log_in(login)
    async with other.session.get(
        operator.console + END, headers={"Cookie": copied}, allow_redirects=False
    ) as answer:
        assert answer.status == 303
        assert answer.headers["Location"].startswith(service.issuer)


async def test_removed_writer_changes_nothing_after_a_reload(
    operator: Operator, service: RunningService, reload: Callable[[Change], None]
) -> None:
    await operator.enter()
    asked = await operator.open(END)
    reload(lambda config: config["admin"].update(readers=[{"sub": [ALICE]}], writers=[]))
    answer = await operator.submit(asked, operator.form_of(asked, "/confirm"))
    assert (answer.status, answer.text_of("error")) == (403, "access_denied")
    assert await sessions_of(service) == 1


async def test_change_asks_for_the_required_acr(start: Start, config: dict[str, Any]) -> None:
    config["admin"]["required_acr"] = "mfa"
    config["authentication_contexts"] = [{"acr": "mfa", "amr": ["pwd", "otp"]}]
    service = await start(config)
    operator = Operator(service)
    await operator.enter()
    async with operator.session.get(operator.console + END, allow_redirects=False) as answer:
        asked = parse_qs(urlsplit(answer.headers["Location"]).query)
    assert asked["max_age"] == ["300"]
    assert asked["claims"] == ['{"id_token": {"acr": {"essential": true, "values": ["mfa"]}}}']
    refused = await operator.log_in(await operator.open(END))
    assert (refused.path, refused.status) == ("/callback", 403)
    assert refused.text_of("error") == "unmet_authentication_requirements"
    security = f"{service.issuer}/account/security"
    assert refused.text_of("error-description") == (
        "changes need the acr mfa (admin.required_acr), which your sign-in did not meet: "
        f"add a factor that meets it at {security}"
    )
    assert refused.element("continue")["href"] == security
    assert await sessions_of(service) == 1
    await operator.close()


async def test_change_asks_only_for_the_factor_that_is_missing(
    start: Start, config: dict[str, Any]
) -> None:
    phone = Phone()
    config["admin"]["required_acr"] = "strong"
    config["authentication_contexts"] = [{"acr": "strong", "amr": ["pwd", "otp"]}]
    config["mfa"] = {"required": "never"}
    service = await start(config)
    await phone.enrol(service)
    operator = Operator(service)
    assert (await operator.enter()).path == "/"
    step = await operator.open(END)
    assert step.path == "/account/second-factor"
    asked = await operator.submit(step, otp=phone.code())
    assert (asked.path, asked.has("do-it")) == ("/confirm", True)
    done = await operator.submit(asked, operator.form_of(asked, "/confirm"))
    assert done.path == "/signed-out"  # all sessions of the operator have ended
    assert await sessions_of(service) == 0
    await operator.close()


@signed_in
async def test_sign_in_that_meets_the_required_acr_is_enough(
    operator: Operator, reload: Callable[[Change], None]
) -> None:
    def require_password(config: dict[str, Any]) -> None:
        config["authentication_contexts"] = [{"acr": "password", "amr": ["pwd"]}]
        config["admin"]["required_acr"] = "password"

    reload(require_password)
    await operator.enter()
    assert (await operator.confirm("end-sessions", "rita")).status == 200


@signed_in
async def test_page_to_return_to_is_one_of_the_console(operator: Operator) -> None:
    await operator.enter()
    asked = await operator.open(
        "/confirm?change=end-sessions&id=rita&back=https%3A%2F%2Fevil.example%2F"
    )
    assert asked.element("cancel")["href"] == "/"
    done = await operator.submit(asked, operator.form_of(asked, "/confirm"))
    assert done.url.startswith(operator.console + "/?")


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ("change=unknown&id=1", (404, "not_found")),
        ("id=1", (404, "not_found")),
        ("change=end-sessions", (400, "invalid_request")),
        ("change=end-sessions&id=1&id=2", (400, "invalid_request")),
    ],
    ids=["unknown change", "no change", "no id", "two ids"],
)
async def test_request_for_no_change_is_refused(
    operator: Operator, query: str, refusal: tuple[int, str]
) -> None:
    await operator.enter()
    page = await operator.open(f"/confirm?{query}")
    assert (page.status, page.text_of("error")) == refusal


async def test_operator_ends_grants_of_a_user(operator: Operator, service: RunningService) -> None:
    tokens = await service.user_token()
    await operator.enter()
    await operator.confirm("end-grants", ALICE)
    assert not await service.is_active(tokens["access_token"])


EVERY_CHANGE = {
    "end-sessions": "rita",
    "end-grants": "rita",
    "remove-factors": "rita",
    "unlock": "rita",
    "end-session": "S" * 16,
    "end-grant": "G" * 16,
    "end-client-grants": "web",
    "delete-client": "dc_" + "A" * 16,
    "rotate-keys": "",
    "retry": "logout.unknown",
}


def test_every_change_is_tried() -> None:
    assert EVERY_CHANGE.keys() == CHANGES.keys()


@pytest.mark.parametrize("name", EVERY_CHANGE)
async def test_change_is_made_by_the_row_of_the_admin_api(
    operator: Operator, events: list[object], name: str
) -> None:
    await operator.enter()
    page = await operator.confirm(name, EVERY_CHANGE[name])
    if name == "retry":  # of a message that there is not
        assert (page.status, page.text_of("error")) == (404, "not_found")
        return
    assert (page.status, page.text_of("done")) == (200, CHANGES[name].done)
    ((_, client_id, subject),) = actions(events)
    assert (client_id, subject) == ("admin-console", ALICE)


async def test_form_after_the_idle_end_changes_nothing(
    operator: Operator, service: RunningService, clock: Clock, events: list[object]
) -> None:
    await operator.enter()
    asked = await operator.open(END)
    clock.forward(minutes=16)
    answer = await operator.submit(asked, operator.form_of(asked, "/confirm"))
    assert (answer.status, answer.text_of("error")) == (403, "invalid_request")
    assert answer.element("continue")["href"] == "/"
    assert await sessions_of(service) == 1
    assert refusals(events) == [("invalid_request", None)]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
async def test_other_methods_change_nothing(operator: Operator, method: str) -> None:
    await operator.enter()
    answer = await operator.request(method, operator.console + END)
    assert answer.status == 405


async def test_body_that_is_no_form_changes_nothing(operator: Operator) -> None:
    await operator.enter()
    answer = await operator.request(
        "POST",
        f"{operator.console}/confirm",
        data=b'{"change": "end-sessions"}',
        headers={"Content-Type": "application/json"},
    )
    assert (answer.status, answer.text_of("error")) == (415, "invalid_request")
