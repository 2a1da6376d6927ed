"""A remembered consent to a registered client holds at the host that the person saw (RFC 7592 §2.2, RFC 7591 §5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tests.driving.browser import Page
from tests.driving.registering import RegisteredApp

Registering = Callable[..., Awaitable[RegisteredApp]]
pytestmark = pytest.mark.rfc("7592#2.2", "7591#5")

ELSEWHERE = "https://elsewhere.example/callback"


async def allowed(registering: Registering) -> RegisteredApp:
    """A client that was allowed everything for good."""
    client = await registering()
    page = await client.login(scope="openid email")
    await client.browser.submit(page, action="allow", remember="true")
    return client


async def again(client: RegisteredApp, redirect_uri: str, scope: str = "openid email") -> Page:
    """The same person comes again."""
    return await client.authorize(redirect_uri=redirect_uri, scope=scope)


async def test_consent_is_not_asked_again_at_the_same_host(registering: Registering) -> None:
    client = await allowed(registering)
    other_path = "https://registered.example/other"
    await client.change(redirect_uris=[other_path])
    assert "code" in (await again(client, other_path)).parameters


async def test_consent_is_asked_again_at_another_host(registering: Registering) -> None:
    client = await allowed(registering)
    await client.change(redirect_uris=[ELSEWHERE])
    page = await again(client, ELSEWHERE)
    assert page.has("consent-allow")
    assert "<strong>elsewhere.example</strong>" in page.text


async def test_consent_for_another_host_is_not_added(registering: Registering) -> None:
    client = await allowed(registering)
    await client.change(redirect_uris=[ELSEWHERE])
    page = await again(client, ELSEWHERE, scope="openid")
    await client.browser.submit(page, action="allow", remember="true")
    assert "code" in (await again(client, ELSEWHERE, scope="openid")).parameters
    assert (await again(client, ELSEWHERE)).has("consent-allow")


NATIVE = {"application_type": "native", "token_endpoint_auth_method": "none"}


@pytest.mark.rfc("8252#8.6")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://127.0.0.1:5000/cb", "http://127.0.0.1:6666/cb"),
        ("http://[::1]/cb", "http://[::1]/cb"),
        ("com.example.app:/cb", "com.example.app:/cb"),
    ],
    ids=["loopback of another port", "loopback by IPv6", "private scheme"],
)
async def test_consent_to_an_application_that_another_one_can_pose_as_is_asked_each_time(
    registering: Registering, first: str, second: str
) -> None:
    client = await registering(redirect_uris=[first], **NATIVE)
    page = await client.login(scope="openid")
    assert page.has("consent-allow")
    assert 'name="remember"' not in page.text
    await client.browser.submit(page, action="allow", remember="true")
    silent = await client.authorize(redirect_uri=second, scope="openid", prompt="none")
    assert silent.error == "consent_required"


@pytest.mark.rfc("8252#8.6")
async def test_consent_to_a_public_client_of_a_website_is_remembered(
    registering: Registering,
) -> None:
    client = await registering(**NATIVE)
    page = await client.login(scope="openid")
    await client.browser.submit(page, action="allow", remember="true")
    assert "code" in (await client.authorize(scope="openid", prompt="none")).parameters
