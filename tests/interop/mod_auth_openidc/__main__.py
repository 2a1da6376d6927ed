"""mod_auth_openidc protects a page of Apache: sign in, refresh, sign out here and there (OIDC Core §3.1)."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import click

from tests.interop.addresses import BACK_CHANNEL_PARTY, ERRANDS, FRONT_CHANNEL_PARTY, ISSUER
from tests.interop.mod_auth_openidc.apache import apache
from tests.interop.person import Arrival, Person, a_person
from tests.interop.steps import Steps

SIGN_OUT = f"{ISSUER}/connect/endsession"
SIGNED_OUT = f"{ERRANDS}/signed-out"
SUBJECT = "818727"
ATTEMPTS = 50


@dataclass(frozen=True)
class Visitor:
    """A person in front of the protected page of a site."""

    person: Person
    site: str

    @property
    def page(self) -> str:
        """The protected page."""
        return f"{self.site}/protected/"

    def module(self, **what: str) -> str:
        """The module's own URL, for answers and everything else that it can do."""
        return f"{self.site}/protected/callback?{urlencode(what)}"

    async def comes(self) -> Arrival:
        """Look at the page, and sign in for that where asked."""
        return await self.person.visit(self.page)

    async def session(self) -> dict[str, Any]:
        """The module's record of the person: tokens and claims."""
        await self.person.page.goto(self.module(info="json"))
        known: dict[str, Any] = json.loads(await self.person.page.inner_text("body"))
        return known

    async def is_a_stranger(self) -> bool:
        """Whether the protected page leads to the sign-in form."""
        await self.person.page.goto(self.page)
        return await self.person.page.locator("#login").count() > 0

    async def becomes_a_stranger(self) -> None:
        """Wait for what the provider tells the module behind the visitor's back."""
        for _ in range(ATTEMPTS):
            if await self.is_a_stranger():
                return
            await asyncio.sleep(0.1)
        raise AssertionError("the module still knows the visitor")


async def signs_in(visitor: Visitor, steps: Steps) -> None:
    """From the protected page to the provider and back."""
    with steps.step("a stranger is sent to sign in and sees the page"):
        arrival = await visitor.comes()
        assert (arrival.url, arrival.content["user"]) == (visitor.page, SUBJECT)
    with steps.step("userinfo: its claims reach the page"):
        assert arrival.content["email"] == "alice@example.com"
    with steps.step("refresh: the module takes a new access token"):
        old = (await visitor.session())["access_token"]
        renewal = visitor.module(refresh=visitor.page, access_token=old)
        await visitor.person.page.goto(renewal)
        assert (await visitor.session())["access_token"] != old


async def signs_out(visitor: Visitor, steps: Steps) -> None:
    """Here, and at the provider with it."""
    with steps.step("logout: the module ends both sessions and comes back"):
        arrival = await visitor.person.visit(visitor.module(logout=SIGNED_OUT))
        assert arrival.url == SIGNED_OUT
        assert await visitor.is_a_stranger()


async def is_told_behind_the_back(visitor: Visitor, steps: Steps) -> None:
    """Back-Channel Logout §2.5."""
    with steps.step("back-channel logout: who signs out at the provider is a stranger here"):
        await visitor.comes()
        assert not await visitor.is_a_stranger()
        await visitor.person.visit(SIGN_OUT)
        await visitor.becomes_a_stranger()


async def is_told_in_a_frame(visitor: Visitor, steps: Steps) -> None:
    """Front-Channel Logout §3."""
    with steps.step("front-channel logout: who signs out at the provider is a stranger here"):
        await visitor.comes()
        assert not await visitor.is_a_stranger()
        async with visitor.person.page.expect_response(re.compile(r"logout=get")):
            await visitor.person.visit(SIGN_OUT)
        assert await visitor.is_a_stranger()


async def everything(steps: Steps) -> None:
    """One person's day at two sites."""
    async with a_person() as person:
        by_back_channel = Visitor(person, BACK_CHANNEL_PARTY)
        by_front_channel = Visitor(person, FRONT_CHANNEL_PARTY)
        await signs_in(by_back_channel, steps)
        await signs_out(by_back_channel, steps)
        await is_told_behind_the_back(by_back_channel, steps)
        await is_told_in_a_frame(by_front_channel, steps)


steps = Steps()
with apache() as log:
    asyncio.run(everything(steps))
    if not all(steps.outcomes):
        click.echo(log.read_text())
steps.finish()
