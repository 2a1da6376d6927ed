"""config.conformance.yaml and docs/conformance.md say the same, and both are true."""

from __future__ import annotations

from typing import Any

import pytest
from argon2 import PasswordHasher

from scripts.docs.conformance import suite_configuration
from service.start.load import inspect
from tests.certification.fapi2 import ciba
from tests.certification.fapi2.client import FapiClient
from tests.certification.fapi2.plan import FapiPlan
from tests.certification.plan import Plan
from tests.certification.profiles import PROFILES
from tests.certification.provider import CONFIGURATION, PASSWORD_HASH, Provider
from tests.certification.relying_party import RelyingParty
from tests.driving.browser import Browser, Page

WITH_SECRETS, WITH_KEYS = (
    [
        client_id
        for profile in PROFILES.values()
        if profile.has_keys is has_keys
        for client_id in profile.clients
    ]
    for has_keys in (False, True)
)


def test_nothing_is_to_be_said_of_the_file() -> None:
    assert inspect(CONFIGURATION, {}) == ()


def test_the_user_has_the_password_that_the_file_says() -> None:
    assert PasswordHasher().verify(PASSWORD_HASH, "alice-password")


@pytest.mark.parametrize("client_id", WITH_SECRETS)
async def test_every_client_of_the_table_has_the_secret_that_the_page_says(
    provider: Provider, browser: Browser, client_id: str
) -> None:
    method = "client_secret_post" if client_id.endswith("-post") else "client_secret_basic"
    plan = Plan(client_id=client_id, response_type="code")
    party = RelyingParty(
        provider=provider, browser=browser, plan=plan, client_id=client_id, auth_method=method
    )
    expected = "unauthorized_client" if client_id.startswith("implicit") else "invalid_grant"
    assert (await party.redeem("no-code")).refusal == (400, expected)


@pytest.mark.parametrize("client_id", WITH_KEYS)
async def test_every_other_client_has_the_key_that_the_page_says(
    provider: Provider, browser: Browser, client_id: str
) -> None:
    by_certificate = client_id.removesuffix("-2").endswith(
        ("-mtls-dpop", "-mtls-mtls", "signing-mtls", "tls-client-auth", "poll-mtls")
    )
    plan = FapiPlan(
        client_id=client_id,
        client_auth_type="mtls" if by_certificate else "private_key_jwt",
        fapi_request_method="signed_non_repudiation" if "signing" in client_id else "unsigned",
    )
    client = FapiClient(provider=provider, browser=browser, plan=plan, client_id=client_id)
    if client_id.startswith("ciba-"):
        assert await ciba.begin(client)
        return
    assert (await client.push(client.request())).status == 201


def test_no_client_is_left_out_of_the_table(provider: Provider) -> None:
    assert {*WITH_SECRETS, *WITH_KEYS} == set(
        provider.service.features.shared.registry.current.clients
    )


async def test_the_suite_finds_the_elements_that_it_clicks(
    provider: Provider, browser: Browser
) -> None:
    signing_in, signing_out = suite_configuration("basic")["browser"]
    plan = Plan(client_id="basic", response_type="code")
    party = RelyingParty(provider=provider, browser=browser, plan=plan, client_id="basic")
    page = await party.authorize(
        party.request(scope="openid offline_access", prompt="login consent")
    )
    assert missing(page, signing_in["tasks"][0]) == []
    consent = await browser.log_in(page)
    assert missing(consent, signing_in["tasks"][1]) == []
    refused = await party.authorize(party.request(redirect_uri="https://elsewhere.example"))
    assert missing(refused, signing_in["tasks"][2]) == []
    asked = await browser.get(provider.path("end_session_endpoint"))
    assert missing(asked, signing_out["tasks"][0]) == []
    assert missing(await browser.submit(asked, action="logout"), signing_out["tasks"][1]) == []


def missing(page: Page, task: dict[str, Any]) -> list[str]:
    """The ids among a task's commands that the page has no element for."""
    return [
        element_id
        for _, by, element_id, *_ in task["commands"]
        if by == "id" and not page.has(element_id)
    ]
