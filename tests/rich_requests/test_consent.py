"""A person is asked for authorization details each time, and sees what they say (RFC 9396 §12)."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
import yaml

from service.events.authorizations import ConsentGiven
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.rich_requests.details import ACCOUNTS, NAMES, PAYMENT, Asking, encode

pytestmark = pytest.mark.rfc("9396#12", "9396#7")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "consenting")["authorization_details_types"] = NAMES
    return config


def shown(page: Page, at: int) -> str:
    """The text of one object on the page."""
    parts = page.text.split('data-authorization-detail="')
    found = next(part for part in parts[1:] if part.startswith(f'{at}"'))
    text = re.sub(r"<[^>]*>", " ", found.split("</dl>")[0].partition(">")[2])
    return " ".join(unescape(text).split())


async def test_the_page_shows_each_object(asking: Asking) -> None:
    page = await asking.page(PAYMENT, ACCOUNTS)
    assert page.path == "/account/consent"
    assert shown(page, 0).startswith("Pay 123.50 EUR to Merchant A Your bank All details")
    assert "instructedAmount › amount 123.50" in shown(page, 0)
    assert "actions initiate, status, cancel" in shown(page, 0)
    assert shown(page, 1) == "account_information accounts All details actions list, read"


async def test_the_summary_is_in_the_language_of_the_page(asking: Asking) -> None:
    page = await asking.page(PAYMENT, ui_locales="de")
    assert shown(page, 0).startswith("123.50 EUR an Merchant A zahlen Your bank Alle Einzelheiten")


async def test_everything_that_a_client_sends_is_escaped(asking: Asking) -> None:
    page = await asking.page(PAYMENT | {"creditorName": '<b onclick="x">{type}</b>'})
    assert "<b onclick" not in page.text
    assert 'to <b onclick="x">{type}</b>' in unescape(page.text)


async def test_a_value_cannot_hide_what_stands_around_it(asking: Asking) -> None:
    page = await asking.page(PAYMENT | {"creditorName": "A\u202e\u200b\n\n  B"})
    assert "Pay 123.50 EUR to A B" in page.text


async def test_a_missing_member_is_left_out(asking: Asking) -> None:
    without = {name: value for name, value in PAYMENT.items() if name != "creditorName"}
    assert shown(await asking.page(without), 0).startswith("Pay 123.50 EUR to Your bank")


async def test_it_is_asked_each_time_and_not_remembered(asking: Asking) -> None:
    page = await asking.page(PAYMENT)
    assert not page.has("remember")
    page = await asking.app.browser.submit(page, action="allow", remember="on")
    assert "code" in page.parameters
    assert (await asking.page(PAYMENT)).path == "/account/consent"
    (given,) = [one for one in asking.app.service.events if isinstance(one, ConsentGiven)]
    assert not given.remembered
    assert given.authorization_details_types == ("payment_initiation",)


async def test_it_is_asked_where_the_scope_is_remembered(
    app_of: Callable[[str], ClientApp],
) -> None:
    app = app_of("consenting")
    page = await app.login()
    await app.browser.submit(page, action="allow", remember="on")
    assert "code" in (await app.authorize()).parameters
    assert (await app.authorize(authorization_details=encode(PAYMENT))).path == "/account/consent"


async def test_user_is_not_asked_under_prompt_none(asking: Asking) -> None:
    await asking.tokens(PAYMENT)
    page = await asking.app.authorize(prompt="none", authorization_details=encode(PAYMENT))
    assert page.parameters["error"] == "consent_required"


async def test_a_denial_grants_nothing(asking: Asking) -> None:
    page = await asking.app.browser.submit(await asking.page(PAYMENT), action="deny")
    assert page.parameters["error"] == "access_denied"


async def test_details_can_be_allowed_without_any_scope(asking: Asking) -> None:
    page = await asking.page(PAYMENT, scope="api1")
    page = await asking.app.browser.submit(page, action="allow", scope=None)
    tokens = await asking.app.redeem(page.parameters["code"])
    assert tokens["authorization_details"] == [PAYMENT]
    assert "scope" not in tokens.json


async def test_the_consent_is_for_the_request_that_was_shown(asking: Asking) -> None:
    page = await asking.page(PAYMENT)
    other = encode(PAYMENT | {"creditorName": "Mallory"})
    page = await asking.app.browser.submit(page, action="allow", authorization_details=other)
    tokens = await asking.app.redeem(page.parameters["code"])
    assert tokens["authorization_details"] == [PAYMENT]


async def test_the_account_page_says_what_was_allowed(asking: Asking) -> None:
    await asking.tokens(PAYMENT)
    account = await asking.app.browser.get("/account")
    assert "<bdi>Pay 123.50 EUR to Merchant A</bdi>" in account.text


async def test_the_account_page_names_a_type_that_the_operator_has_removed(
    asking: Asking, service: RunningService
) -> None:
    await asking.tokens(PAYMENT)
    file = service.features.shared.configuration.file
    configuration = yaml.safe_load(file.read_text())
    del configuration["authorization_details_types"]
    for client in configuration["clients"]:
        client.pop("authorization_details_types", None)
    file.write_text(yaml.safe_dump(configuration))
    assert service.features.shared.registry.reload()
    assert "<bdi>payment_initiation</bdi>" in (await asking.app.browser.get("/account")).text
