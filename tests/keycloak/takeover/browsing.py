"""Journeys in a browser: users sign in at applications whose settings nobody changes, with passwords, apps and a passkey."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pyotp
from playwright.async_api import Browser, BrowserContext, Page

from tests.browser.virtual_authenticator import VirtualAuthenticator
from tests.driving.service import claims_in
from tests.keycloak.takeover.parties import Addresses, Passkey, code_seed_of, password_of, secret_of
from tests.keycloak.takeover.requests import Server, facts

PATIENCE = 120_000
LOGIN, SIGN_IN = "#username", "#kc-login, #login"
"""The field and the button of both servers' pages."""
AGREE = "#kc-login[name=accept], #device-allow, #consent-allow"


@dataclass(frozen=True)
class Visitor:
    """Somebody with a browser that nobody else uses."""

    server: Server
    context: BrowserContext
    page: Page
    passkey: Passkey

    @property
    def at(self) -> Addresses:
        return self.server.at

    async def sign_in(self, name: str = "alice") -> None:
        """Fill in the login page."""
        await self.page.fill(LOGIN, name)
        await self.page.fill("#password", password_of(name))
        await self.page.click(SIGN_IN)

    async def does(self, script: str) -> Any:
        """The value of an expression in the page."""
        return await self.page.evaluate(script)

    async def loads(self, name: str) -> None:
        """Wait until the page has a library in this variable."""
        await self.page.wait_for_function(f"() => window.{name} !== undefined")

    def authorize(self, client: str, redirect_uri: str, **more: str) -> str:
        """The URL to sign in at, for a client that makes its own requests."""
        usual = {"client_id": client, "redirect_uri": redirect_uri, "response_type": "code"}
        usual |= {"scope": "openid profile email", "state": "s", "nonce": "n"}
        return f"{self.at.endpoint('auth')}?{urlencode(usual | more)}"

    async def arrives(self, redirect_uri: str, doing: Awaitable[None]) -> dict[str, str]:
        """The parameters that arrive at a redirect URI."""
        async with self.page.expect_request(
            lambda request: request.is_navigation_request() and request.url.startswith(redirect_uri)
        ) as arriving:
            await doing
        await arriving.value
        await self.page.wait_for_url(f"{redirect_uri}**", wait_until="commit")
        url = urlsplit(self.page.url)
        found = parse_qs(url.query or url.fragment)
        return {name: values[0] for name, values in found.items()}


async def uses_keycloak_js(visitor: Visitor) -> object:
    """keycloak-js with its defaults: sign-in, roles, refresh, userinfo, a logout elsewhere, and its own."""
    page, start = visitor.page, f"{visitor.at.pages}/keycloak"
    await page.goto(start)
    await visitor.sign_in()
    await visitor.loads("keycloak")
    parsed = [facts(await visitor.does(f"keycloak.{each}Parsed")) for each in ("token", "idToken")]
    asked = "[keycloak.hasRealmRole('manager'), keycloak.hasResourceRole('write', 'orders'), keycloak.subject]"
    roles = await visitor.does(asked)
    token = await visitor.does("keycloak.token")
    caller = _caller_at_the_api(visitor.at, token)
    refreshed = await visitor.does("keycloak.updateToken(-1)")
    assert await visitor.does("keycloak.token") != token
    userinfo = facts(await visitor.does("keycloak.loadUserInfo()"))
    hint = await visitor.does("keycloak.idToken")
    elsewhere = await visitor.context.new_page()
    await elsewhere.goto(f"{visitor.at.endpoint('logout')}?id_token_hint={hint}")
    await page.wait_for_selector(LOGIN)  # the frame has noticed, and the library asks to sign in
    await page.goto(start)
    await visitor.sign_in()
    await visitor.loads("keycloak")
    await visitor.does("void keycloak.logout()")
    await page.wait_for_selector(LOGIN)
    return parsed, roles, caller, refreshed, userinfo


def _caller_at_the_api(at: Addresses, token: str) -> object:
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx2.get(f"{at.spring}/api/caller", headers=headers, timeout=60)
    assert answer.status_code == httpx2.codes.OK, answer.headers
    return answer.json()


async def uses_oidc_client_ts(visitor: Visitor) -> object:
    """oidc-client-ts: sign-in, renewal and sign-out."""
    page = visitor.page
    await page.goto(f"{visitor.at.pages}/oidc")
    await visitor.loads("manager")
    await visitor.does("void manager.signinRedirect()")
    await visitor.sign_in()
    await page.wait_for_url(f"{visitor.at.pages}/oidc**")
    await visitor.loads("manager")
    user = await visitor.does("manager.getUser()")
    renewed = await visitor.does("manager.signinSilent()")
    assert renewed["access_token"] != user["access_token"]
    await visitor.does("void manager.signoutRedirect()")
    await page.wait_for_url(f"{visitor.at.pages}/oidc**")
    await visitor.loads("manager")
    assert await visitor.does("manager.getUser()") is None
    return facts(user["profile"]), facts(renewed["profile"]), facts(claims_in(user["access_token"]))


async def uses_spring(visitor: Visitor) -> object:
    """Spring Security's oauth2Login, with its own decoder of ID tokens."""
    await visitor.page.goto(f"{visitor.at.spring}/")
    await visitor.sign_in()
    await visitor.page.wait_for_url(f"{visitor.at.spring}/**")
    return json.loads(await visitor.page.inner_text("body"))


async def uses_oauth2_proxy(visitor: Visitor) -> object:
    """oauth2-proxy as `keycloak-oidc`, which lets users with a role in."""
    proxy = visitor.at.proxy
    await visitor.page.goto(f"{proxy}/")
    await visitor.sign_in()
    await visitor.page.wait_for_url(f"{proxy}/**")
    await visitor.page.goto(f"{proxy}/oauth2/userinfo")
    user = json.loads(await visitor.page.inner_text("body"))
    return user["user"], user["email"], user["preferredUsername"], sorted(user["groups"])


async def uses_grafana(
    visitor: Visitor, client: str = "grafana", path: str = "login/generic_oauth"
) -> object:
    """The requests of Grafana's `[auth.generic_oauth]`, and the places where `role_attribute_path` finds the roles: ID token, then userinfo."""
    back = f"{visitor.at.pages}/{path}"
    await visitor.page.goto(visitor.authorize(client, back))
    code = (await visitor.arrives(back, visitor.sign_in()))["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back}
    answer = visitor.server.http.post(
        visitor.at.endpoint("token"), data=form, auth=(client, secret_of(client))
    )
    tokens = answer.raise_for_status().json()
    refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    visitor.server.granted(client, **refresh)
    found = claims_in(tokens["id_token"])["roles"], visitor.server.userinfo(tokens["access_token"])
    return found, facts(claims_in(tokens["id_token"]))


async def uses_the_implicit_flow(visitor: Visitor) -> object:
    """A client of before PKCE, whose tokens are in the fragment."""
    back = f"{visitor.at.pages}/legacy"
    await visitor.page.goto(visitor.authorize("legacy", back, response_type="id_token token"))
    answer = await visitor.arrives(back, visitor.sign_in())
    return [facts(claims_in(answer[each])) for each in ("access_token", "id_token")]


async def uses_a_television(visitor: Visitor) -> object:
    """The device grant."""
    url = visitor.at.endpoint("auth/device")
    form = {"client_id": "tv", "scope": "openid"}
    device = visitor.server.http.post(url, data=form).raise_for_status().json()
    await visitor.page.goto(device["verification_uri_complete"])
    field = visitor.page.locator(LOGIN).or_(visitor.page.locator(AGREE))
    await field.first.wait_for()
    if await visitor.page.locator(LOGIN).count():
        await visitor.sign_in()
    await visitor.page.click(AGREE)
    form = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "tv"}
    form["device_code"] = device["device_code"]
    while (asked := visitor.server.token(None, **form))[1].get("error") == "authorization_pending":
        await visitor.page.wait_for_timeout(1000 * device.get("interval", 5))
    return facts(claims_in(asked[1]["id_token"]))


async def uses_an_app(visitor: Visitor, name: str) -> object:
    """A password, and then a code of the app; the server before may have taken the present one."""
    back = f"{visitor.at.pages}/login/generic_oauth"
    await visitor.page.goto(visitor.authorize("grafana", back))
    await visitor.sign_in(name)
    await visitor.page.wait_for_selector("#otp")
    await visitor.page.fill("#otp", _next_code(name))
    answer = await visitor.arrives(back, visitor.page.click("#kc-login, #confirm"))
    return "code" in answer


def _next_code(name: str) -> str:
    """The code of the next half minute, which no server has seen yet."""
    return pyotp.TOTP(code_seed_of(name)).generate_otp(int(time.time()) // 30 + 1)


async def uses_a_passkey(visitor: Visitor) -> object:
    """A password, and then the passkey in the browser's authenticator."""
    authenticator = await VirtualAuthenticator.attach(visitor.context, visitor.page, resident=False)
    await authenticator.add(visitor.passkey.credential())
    back = f"{visitor.at.pages}/login/generic_oauth"
    await visitor.page.goto(visitor.authorize("grafana", back))
    await visitor.sign_in("hank")
    button = "#authenticateWebAuthnButton, #passkey"
    await visitor.page.wait_for_selector(button)
    answer = await visitor.arrives(back, visitor.page.click(button))
    return "code" in answer


Journeys = Mapping[str, Callable[[Visitor], Awaitable[object]]]

JOURNEYS: Journeys = {
    "keycloak-js, and the API in Spring": uses_keycloak_js,
    "oidc-client-ts": uses_oidc_client_ts,
    "Spring Security": uses_spring,
    "oauth2-proxy": uses_oauth2_proxy,
    "Grafana's settings": uses_grafana,
    "another client with a mapper for the same claim": lambda visitor: uses_grafana(
        visitor, "wiki", "wiki"
    ),
    "the implicit flow": uses_the_implicit_flow,
    "the device grant": uses_a_television,
    "an app whose seed is text": lambda visitor: uses_an_app(visitor, "bob"),
    "an app whose seed is base32": lambda visitor: uses_an_app(visitor, "carol"),
    "a passkey": uses_a_passkey,
}
ONLY_HERE: Journeys = {
    "an app, and a password of PBKDF2 with SHA-256": lambda visitor: uses_an_app(
        visitor, "bob-twin"
    ),
    "an app, and a password of PBKDF2 with SHA-512": lambda visitor: uses_an_app(
        visitor, "carol-twin"
    ),
}
"""For users whose hashes Keycloak has not replaced, because they never signed in there."""


async def visit(
    browser: Browser,
    server: Server,
    passkey: Passkey,
    journey: Callable[[Visitor], Awaitable[object]],
) -> object:
    """Make a journey with a new browser context."""
    context = await browser.new_context(locale="en")
    context.set_default_timeout(PATIENCE)
    try:
        return await journey(Visitor(replace(server), context, await context.new_page(), passkey))
    finally:
        await context.close()
