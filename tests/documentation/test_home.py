"""The start page of the demonstration: people and clients, tokens, and the delegation as it happens."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import urlencode

import pytest

from tests.documentation.conftest import Shell
from tests.driving.browser import Browser, Page


async def signed_in(browser: Browser, person: str = "alice") -> Page:
    """The start page after one of its people has signed in and allowed everything."""
    page = await browser.get(link_of(await browser.get("/"), "person", person))
    page = await browser.log_in(page, person, password=person)
    if page.has("consent-allow"):
        page = await browser.submit(page, action="allow")
    return page


def link_of(page: Page, kind: str, name: str) -> str:
    """Return the target of the button of a person or client."""
    found = re.search(rf'data-{kind}="{name}" href="([^"]+)"', page.text)
    assert found
    return html.unescape(found[1])


def answer_of(page: Page, step: str) -> dict[str, object]:
    """The answer that a step shows."""
    section = page.text.partition(f'id="step-{step}"')[2].partition("</section>")[0]
    shown = re.search(r"</details>\s*<pre>(\{.*?\})</pre>", section, re.DOTALL)
    assert shown
    content: dict[str, object] = json.loads(html.unescape(shown[1]))
    return content


async def test_it_names_people_and_clients_with_their_passwords(
    demonstration_browser: Browser,
) -> None:
    page = await demonstration_browser.get("/")
    assert "password <code>bob</code>" in page.text
    assert "web:web-secret" in page.text


async def test_another_name_of_the_machine_leads_to_the_issuers_own(
    demonstration_browser: Browser,
) -> None:
    other = demonstration_browser.issuer.replace("localhost", "127.0.0.1")
    page = await demonstration_browser.get(f"{other}/")
    assert page.url == f"{demonstration_browser.issuer}/"


async def test_the_tokens_of_a_sign_in_are_shown_decoded(demonstration_browser: Browser) -> None:
    page = await signed_in(demonstration_browser)
    assert '"typ":"at+jwt"' in page.text_of("code-access_token")
    assert '"sub": "818727"' in page.text_of("code-id_token")


async def test_the_delegation_happens_on_the_page(demonstration_browser: Browser) -> None:
    page = await signed_in(demonstration_browser)
    assert answer_of(page, "introspection")["aud"] == "api1"
    assert answer_of(page, "not-addressed") == {"active": False}
    delegated = answer_of(page, "delegated")
    assert (delegated["sub"], delegated["act"]) == ("818727", {"sub": "api1"})


async def test_a_revocation_ends_the_delegated_token_too(demonstration_browser: Browser) -> None:
    page = await signed_in(demonstration_browser)
    page = await demonstration_browser.submit(page, action="revoke")
    assert answer_of(page, "ended") == {"active": False}


async def test_a_public_client_signs_in_as_well(demonstration_browser: Browser) -> None:
    page = await demonstration_browser.get(
        link_of(await demonstration_browser.get("/"), "client", "spa")
    )
    page = await demonstration_browser.log_in(page, "bob", password="bob")
    assert answer_of(page, "delegated")["sub"] == "88421113"


async def test_a_program_gets_a_token_of_its_own(demonstration_browser: Browser) -> None:
    page = await demonstration_browser.get("/")
    page = await demonstration_browser.submit(page, action="token")
    assert answer_of(page, "introspection")["sub"] == "machine"
    assert not page.has("step-delegation")


async def test_a_code_that_is_used_again_is_refused(demonstration_browser: Browser) -> None:
    page = await signed_in(demonstration_browser)
    again = await demonstration_browser.get(page.url)
    assert answer_of(again, "code")["error"] == "invalid_grant"


@pytest.mark.parametrize("state", ["", "web", "forged.web", "é.web"])
async def test_a_code_that_this_browser_did_not_ask_for_is_not_redeemed(
    demonstration_browser: Browser, state: str
) -> None:
    page = await demonstration_browser.get(f"/?{urlencode({'code': 'ac_x', 'state': state})}")
    assert page.status == 200
    assert not page.has("step-code")


async def test_a_form_without_its_anti_forgery_value_is_refused(
    demonstration_browser: Browser,
) -> None:
    page = await demonstration_browser.get("/")
    forged = await demonstration_browser.submit(page, action="token", csrf="forged")
    assert forged.status == 403


async def test_a_refused_sign_in_is_shown(demonstration_browser: Browser) -> None:
    page = await demonstration_browser.get("/")
    page = await demonstration_browser.get(link_of(page, "person", "alice"))
    page = await demonstration_browser.submit(page, action="cancel")
    assert "access_denied" in page.text_of("sign-in-error")


async def test_each_client_has_a_button_or_a_request(
    demonstration_browser: Browser, shell: Shell
) -> None:
    page = await demonstration_browser.get("/")
    rows = page.text.partition('id="clients"')[2].split('<li class="row">')[1:]
    requests = [re.search(r"<pre>(curl [^<]*)</pre>", row) for row in rows]
    assert len(rows) > 6
    for row, request in zip(rows, requests, strict=True):
        assert request or "data-client=" in row
    commands = [html.unescape(found[1]) for found in requests if found]
    answers = [json.loads(answer) for answer in shell(commands)]
    begun = {"device_code", "auth_req_id", "access_token"}
    assert [answer for answer in answers if not begun & answer.keys()] == [
        {"error": "invalid_grant", "error_description": answers[-1]["error_description"]}
    ]
    for path in ("/device", "/account/requests"):
        assert f'href="{path}"' in page.text
