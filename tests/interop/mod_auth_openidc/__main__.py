"""mod_auth_openidc protects a page of Apache: sign in, refresh, sign out here and there (OIDC Core §3.1, Back-Channel §2.5)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import click

from tests.interop.addresses import ERRANDS, ISSUER, RELYING_PARTY
from tests.interop.mod_auth_openidc.apache import apache
from tests.interop.person import Person, a_person
from tests.interop.steps import Steps

PAGE = f"{RELYING_PARTY}/protected/"
HOOK = f"{RELYING_PARTY}/protected/callback"
"""The module's own URL, for answers and everything else it can do."""
SUBJECT = "818727"
ATTEMPTS = 100


@dataclass(frozen=True)
class Visitor:
    """Somebody who wants to see the protected page."""

    person: Person

    async def asks_the_module(self, **what: str) -> None:
        """Let the module do something."""
        await self.person.page.goto(f"{HOOK}?{urlencode(what)}")

    async def session(self) -> dict[str, Any]:
        """What the module keeps of the person: tokens and claims."""
        await self.asks_the_module(info="json")
        known: dict[str, Any] = json.loads(await self.person.page.inner_text("body"))
        return known

    async def is_a_stranger(self) -> bool:
        """Whether the protected page leads to the sign-in form."""
        await self.person.page.goto(PAGE)
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
        arrival = await visitor.person.visit(PAGE)
        assert (arrival.url, arrival.content["user"]) == (PAGE, SUBJECT)
    with steps.step("userinfo: its claims reach the page"):
        assert arrival.content["email"] == "alice@example.com"
    with steps.step("refresh: the module takes a new access token"):
        old = (await visitor.session())["access_token"]
        await visitor.asks_the_module(refresh=PAGE, access_token=old)
        assert (await visitor.session())["access_token"] != old


async def signs_out(visitor: Visitor, steps: Steps) -> None:
    """Here, and at the provider with it."""
    with steps.step("logout: the module ends both sessions and comes back"):
        arrival = await visitor.person.visit(
            f"{HOOK}?{urlencode({'logout': f'{ERRANDS}/signed-out'})}"
        )
        assert arrival.url == f"{ERRANDS}/signed-out"
        assert await visitor.is_a_stranger()
    with steps.step(
        "back-channel logout: who signs out at the provider is a stranger here as well"
    ):
        await visitor.person.visit(PAGE)
        assert not await visitor.is_a_stranger()
        await visitor.person.visit(f"{ISSUER}/connect/endsession")
        await visitor.becomes_a_stranger()


async def everything(steps: Steps) -> None:
    """One visitor's day."""
    async with a_person() as person:
        visitor = Visitor(person)
        await signs_in(visitor, steps)
        await signs_out(visitor, steps)


steps = Steps()
with apache() as log:
    asyncio.run(everything(steps))
    if not all(steps.outcomes):
        click.echo(log.read_text())
steps.finish()
