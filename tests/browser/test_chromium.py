"""A real browser and a real application: signing in, consenting, signing out (OIDC Core §3.1, Form Post, RP-Initiated Logout)."""

from __future__ import annotations

import pytest

from tests.browser.conftest import PHONE, Person
from tests.driving.chromium import CHROMIUM
from tests.driving.service import RunningService

pytestmark = [pytest.mark.needs(CHROMIUM), pytest.mark.rfc("openid-core#3.1")]

without_javascript = pytest.mark.parametrize(
    "person", [{"java_script_enabled": False}], indirect=True, ids=["without JavaScript"]
)
on_a_phone = pytest.mark.parametrize(
    "person",
    [{"viewport": PHONE, "color_scheme": "dark", "is_mobile": True}],
    indirect=True,
    ids=["on a phone"],
)


CLICK_TWICE = """async (selector) => {
  const button = document.querySelector(selector);
  button.click();
  await new Promise((resolve) => setTimeout(resolve, 500));
  button.click();
}"""
CLICK_AND_COME_BACK = """() => {
  const sent = [];
  addEventListener("submit", (event) => {
    sent.push(!event.defaultPrevented);
    event.preventDefault();
  });
  document.querySelector("#user_code").value = "BCDF-GHJK";
  const button = document.querySelector("#device-continue");
  button.click();
  button.click();
  dispatchEvent(new Event("pageshow"));
  button.click();
  return sent;
}"""


async def test_a_keyboard_is_enough(person: Person) -> None:
    await person.asks()
    keyboard = person.page.keyboard
    await person.page.wait_for_selector("#username:focus")
    await keyboard.type("alice")
    await keyboard.press("Tab")
    await keyboard.type("alice-password")
    await keyboard.press("Enter")
    assert await person.sees("#consent-allow") == "Allow"
    await person.page.focus("#consent-allow")
    await keyboard.press("Enter")
    assert await person.sees("#granted") == "api1 openid profile"


async def test_a_wrong_password_is_told_and_may_be_mended(person: Person) -> None:
    await person.asks()
    await person.logs_in("wrong")
    assert await person.sees("#login-error")
    assert await person.page.input_value("#username") == "alice"
    assert await person.page.input_value("#password") == ""
    await person.logs_in()
    assert await person.sees("#consent-allow")


async def test_unticked_boxes_are_not_granted(person: Person) -> None:
    await person.asks()
    await person.logs_in()
    assert await person.page.is_disabled("input[name=scope][value=openid]")
    await person.page.uncheck("input[name=scope][value=profile]")
    await person.page.click("#consent-allow")
    assert await person.sees("#granted") == "api1 openid"


async def test_a_typed_password_is_shown_on_demand(person: Person) -> None:
    await person.asks()
    await person.page.fill("#username", "alice")
    await person.page.fill("#password", "alice-password")
    await person.page.click("#show-password")
    assert await person.page.get_attribute("#password", "type") == "text"
    assert await person.page.get_attribute("#show-password", "aria-pressed") == "true"
    await person.page.keyboard.press("Enter")
    assert await person.sees("#consent-allow")


async def test_the_details_of_an_error_are_copied(person: Person) -> None:
    await person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await person.page.goto(f"{person.issuer}/account/error")
    await person.page.click("#copy")
    await person.page.wait_for_selector('#copy:text-is("Copied")')  # the clipboard takes its time
    copied = await person.page.evaluate("navigator.clipboard.readText()")
    assert await person.sees("#request-id") in copied
    person.complaints.clear()  # of the status 400


@pytest.mark.parametrize(
    ("clipboard", "said"), [("resolve", "Copied"), ("reject", "Could not be copied")]
)
async def test_outcome_of_copying_is_shown_and_read_out(
    person: Person, clipboard: str, said: str
) -> None:
    await person.page.goto(f"{person.issuer}/account/error")
    answer = f"() => {{ navigator.clipboard.writeText = () => Promise.{clipboard}() }}"
    await person.page.evaluate(answer)
    await person.page.click("#copy")
    await person.page.wait_for_selector(f'[role=status]:text-is("{said}")', state="attached")
    assert await person.sees("#copy") == said
    person.complaints.clear()  # of the status 400


@pytest.mark.parametrize(
    ("button", "outcome"), [("#consent-allow", "#granted"), ("#consent-deny", "#refused")]
)
async def test_second_click_while_the_application_is_slow_changes_nothing(
    person: Person, button: str, outcome: str
) -> None:
    person.application.seconds_to_answer = 1
    await person.asks()
    await person.logs_in()
    await person.page.wait_for_selector(button)
    await person.page.evaluate(CLICK_TWICE, button)
    assert await person.sees(outcome)


async def test_form_is_sent_again_after_the_user_comes_back_to_its_page(person: Person) -> None:
    await person.page.goto(f"{person.issuer}/device")
    assert await person.page.evaluate(CLICK_AND_COME_BACK) == [True, False, True]


@pytest.mark.parametrize("leaving", ["Escape", "the focus"])
async def test_list_of_languages_closes_by(person: Person, leaving: str) -> None:
    await person.page.goto(f"{person.issuer}/device")
    await person.tabs_to(".languages summary", then="Enter")
    assert await person.page.is_visible(".languages nav")
    if leaving == "Escape":
        await person.tabs_to(".languages a:nth-child(2)", then="Escape")
        assert await person.page.locator(".languages summary:focus").count()
    else:
        await person.page.keyboard.press("Shift+Tab")
    assert not await person.page.is_visible(".languages nav")


@without_javascript
async def test_what_a_script_would_do_is_not_offered_without_one(person: Person) -> None:
    await person.asks()
    assert not await person.page.is_visible("#show-password")
    await person.page.goto(f"{person.issuer}/account/error")
    assert not await person.page.is_visible("#copy")
    assert (await person.sees("#error-time")).endswith("UTC")
    person.complaints.clear()  # of the status 400


@pytest.mark.parametrize("button", ["#cancel", "#consent-deny"])
async def test_a_refusal_takes_the_person_back(person: Person, button: str) -> None:
    await person.asks()
    if button == "#consent-deny":
        await person.logs_in()
    await person.page.click(button)
    assert await person.sees("#refused") == "access_denied"
    assert person.application.received["state"] == "the-state"


@pytest.mark.rfc("oauth-form-post#2")
async def test_a_form_posts_itself_to_the_application(person: Person) -> None:
    await person.asks(response_mode="form_post")
    await person.logs_in()
    await person.page.click("#consent-allow")
    assert await person.sees("#granted") == "api1 openid profile"
    assert person.application.received["iss"] == person.issuer


async def test_an_application_that_compares_the_origin_of_an_answer_sees_the_issuers(
    person: Person,
) -> None:
    await person.asks(response_mode="form_post")
    await person.logs_in()
    await person.page.click("#consent-allow")
    await person.sees("#granted")
    assert person.application.origin == person.issuer


@pytest.mark.rfc("openid-core#3.1.2.1")
async def test_a_post_from_another_site_finds_the_session(person: Person) -> None:
    await person.posts()
    await person.logs_in()
    await person.page.click("#consent-allow")
    await person.sees("#granted")
    await person.posts(prompt="none")
    assert await person.sees("#granted") == "api1 openid profile"


@pytest.mark.rfc("openid-rpinitiated#2")
async def test_signing_out_asks_and_then_ends_the_session(person: Person) -> None:
    await person.asks()
    await person.logs_in()
    await person.page.click("#consent-allow")
    await person.sees("#granted")
    back = f"client_id=consenting&post_logout_redirect_uri={person.application.url}/bye"
    await person.page.goto(f"{person.issuer}/connect/endsession?{back}")
    await person.page.click("#logout-confirm")
    assert await person.sees("#bye") == "Bye"
    await person.asks()
    assert await person.page.is_visible("#username")


async def test_the_account_page_signs_in_and_out(person: Person) -> None:
    await person.page.goto(f"{person.issuer}/account")
    await person.logs_in()
    assert await person.sees("li[data-session] .badge") == "This device"
    assert await person.sees("h1") == "Your account"
    await person.page.click("#logout")
    await person.page.click("#logout-confirm")
    assert await person.sees("#logout-success")


async def test_an_application_is_shut_out_on_the_account_page(
    person: Person, service: RunningService
) -> None:
    await person.asks()
    await person.logs_in()
    await person.page.click("#consent-allow")
    await person.sees("#granted")
    await person.page.goto(f"{person.issuer}/account")
    assert not await person.page.is_visible("li[data-client=consenting] button")
    await person.page.click("li[data-client=consenting] summary")
    await person.page.click("li[data-client=consenting] button")
    await person.page.wait_for_selector("li[data-client=consenting]", state="detached")
    assert [key async for key in service.features.shared.kv.find_keys("ts:*:az")] == []


@without_javascript
@pytest.mark.parametrize("response_mode", ["query", "form_post"])
async def test_nothing_needs_a_script(person: Person, response_mode: str) -> None:
    await person.asks(response_mode=response_mode)
    await person.logs_in()
    await person.page.click("#consent-allow")
    if response_mode == "form_post":
        await person.page.click("form#form-post button")
    assert await person.sees("#granted") == "api1 openid profile"
    await person.page.goto(f"{person.issuer}/connect/endsession")
    await person.page.click("#logout-confirm")
    assert await person.sees("#logout-success")


@on_a_phone
async def test_a_phone_shows_every_page_in_its_width(person: Person) -> None:
    await person.asks(client_id="unknown", ui_locales="de")
    await person.sees("#request-id")
    assert not await person.overflows()
    person.complaints.clear()  # the console notes the status 400
    await person.asks(ui_locales="de", prompt="login select_account consent")
    assert not await person.overflows()
    await person.logs_in("wrong")
    assert not await person.overflows()
    await person.logs_in()
    await person.sees("#consent-allow")
    assert not await person.overflows()
    await person.page.click("#consent-allow")
    await person.sees("#granted")
    await person.asks(ui_locales="de", prompt="select_account")
    await person.sees("#account-continue")
    for path in ("/account", "/connect/endsession"):
        assert not await person.overflows()
        await person.page.goto(person.issuer + path)
    assert not await person.overflows()
