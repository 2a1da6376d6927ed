"""Load with people: codes, refresh tokens, and callers that present the same one twice at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from urllib.parse import urlencode

from aiohttp import ClientError

from service.ciba.pending import PER_MINUTE
from tests.chaos.ledger import AUTH_REQ_ID, DEVICE_CODE, OneTime, Token
from tests.chaos.machines import revoke
from tests.chaos.site import PAUSE, Site
from tests.chaos.spending import (
    CHALLENGE,
    REDIRECT_URIS,
    new_code,
    new_polled_code,
    spend,
    spend_until_answered,
)
from tests.driving.browser import Browser, Page

REFRESHES = 4
"""How often a grant is renewed before the person comes again."""
ATTEMPTS = 20
"""How often somebody who is answered 503 tries to sign in."""
REVOKED = 0.2
"""The share of grants that the client gives back."""


@dataclass
class Person:
    """A signed-in person, and the client application that they use."""

    site: Site
    browser: Browser
    client: str

    async def sign_in(self) -> None:
        """Once, before anything goes wrong; after that the session counts.

        Where the machine has other work, the first seconds may end in refusals for want of time.
        """
        page = await self._try_to_sign_in()
        for _ in range(ATTEMPTS):
            away = page.status == HTTPStatus.SERVICE_UNAVAILABLE
            if not away and page.error != "temporarily_unavailable":  # a page, or at the client
                break
            await self.site.pause()
            page = await self._try_to_sign_in()
        assert "code" in page.parameters, page

    async def _try_to_sign_in(self) -> Page:
        page = await self.browser.get(self._authorization_request())
        return await self.browser.log_in(page) if page.status == HTTPStatus.OK else page

    async def code(self) -> OneTime | None:
        """A code for this person, without a question."""
        url = self._authorization_request()
        answer = await self.site.caller.get("authorize", url, http=self.browser.session)
        return new_code(self.site, answer, self.client) if answer.good else None

    def _authorization_request(self) -> str:
        parameters = {
            "client_id": self.client,
            "redirect_uri": REDIRECT_URIS[self.client],
            "response_type": "code",
            "scope": "openid api1 offline_access",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        return f"{self.site.url}/connect/authorize?{urlencode(parameters)}"


@asynccontextmanager
async def signed_in(site: Site, client: str) -> AsyncIterator[Person]:
    """Somebody with a browser of their own."""
    browser = Browser(site.url)
    try:
        person = Person(site, browser, client)
        await person.sign_in()
        yield person
    finally:
        await browser.close()


async def visit(person: Person) -> None:
    """Comes again and again: a code, its tokens, some renewals, perhaps the end of it all."""
    site = person.site
    while site.under_load:
        code = await person.code()
        token = await spend_until_answered(site, code) if code else None
        for _ in range(REFRESHES):
            if token is None or not site.under_load:
                break
            await site.pause()
            token = await spend_until_answered(site, token)
        if token is not None and random.random() < REVOKED:  # noqa: S311 - to mix the load
            await _give_back(site, token)
        await site.pause()


async def race(person: Person) -> None:
    """Presents the same code or the same refresh token at two replicas at once, and goes on to another."""
    site = person.site
    for turn in count():
        if not site.under_load:
            return
        raced = await person.code()
        if raced is not None and turn % 2 == 0:
            raced = await spend_until_answered(site, raced)
        if raced is not None:
            await asyncio.gather(*(spend(site, raced, at=each) for each in site.two_replicas()))
        await site.pause()


async def connect(person: Person) -> None:
    """Allows a device again and again, which then gets its tokens, and renews them once."""
    site = person.site
    while site.under_load:
        url, scope = f"{site.url}/connect/deviceauthorization", "api1 offline_access"
        codes = await site.caller.post("device", url, auth=person.client, scope=scope)
        if codes.good and await _allow(
            person, codes.content["verification_uri_complete"], "device"
        ):
            code = new_polled_code(site, DEVICE_CODE, codes.content["device_code"], person.client)
            token = await spend_until_answered(site, code)
            if token is not None:
                await spend_until_answered(site, token)
        await site.pause()


async def confirm(person: Person) -> None:
    """Confirms a request of CIBA now and then; its client then gets its tokens, and renews them once."""
    site = person.site
    while site.under_load:
        sent = {"scope": "openid api1 offline_access", "login_hint": "alice"}
        url = f"{site.url}/connect/ciba"
        asked = await site.caller.post("ask", url, auth=person.client, **sent)
        request = str(asked.content.get("auth_req_id"))
        page = f"{site.url}/account/requests/{request[3:19]}"
        if asked.good and await _allow(person, page, "request"):
            code = new_polled_code(site, AUTH_REQ_ID, request, person.client)
            token = await spend_until_answered(site, code)
            if token is not None:
                await spend_until_answered(site, token)
        for _ in range(int(60 / PER_MINUTE / PAUSE)):  # one user is not asked more often
            if site.under_load:
                await asyncio.sleep(PAUSE)


async def _allow(person: Person, url: str, what: str) -> bool:
    """Whether the page said that the device or client may go on."""
    try:
        page = await person.browser.get(url)
        if page.has(f"{what}-allow"):
            page = await person.browser.submit(page, action="allow")
    except (ClientError, TimeoutError):
        return False
    return page.has(f"{what}-done")


async def _give_back(site: Site, token: OneTime) -> None:
    given_back = Token(token.value, token.grant, token.acknowledged, token.client)
    await revoke(site, given_back, token.client, whole_grant=True)
