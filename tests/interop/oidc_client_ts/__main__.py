"""oidc-client-ts in a single-page application in Chromium: sign in, renew unseen, sign out (OIDC Core §3.1, §3.1.2.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.interop.addresses import ISSUER, SINGLE_PAGE
from tests.interop.listening import listening
from tests.interop.person import Person, a_person
from tests.interop.steps import Steps

FOLDER = Path(__file__).parent
LIBRARY = FOLDER / "node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js"
SUBJECT = "818727"
PATIENCE = 60
TWO_LOOKS = 2.5
"""Seconds in which the application asks the frame twice."""


def application() -> web.Application:
    """The files of the application; every other path is its one page."""
    app = web.Application()
    app.router.add_get("/settings.json", settings)
    app.router.add_get("/oidc-client-ts.min.js", of_file(LIBRARY))
    app.router.add_get("/application.mjs", of_file(FOLDER / "application.mjs"))
    app.router.add_get("/{path:.*}", of_file(FOLDER / "application.html"))
    return app


async def settings(_: web.Request) -> web.Response:
    """The application's settings for its provider."""
    return web.json_response({"authority": ISSUER, "client_id": "single-page"})


def of_file(path: Path) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """A handler that answers with a file."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.FileResponse(path)

    return answer


@dataclass(frozen=True)
class Visitor:
    """A user of the application; `manager` is its oidc-client-ts."""

    person: Person

    async def opens(self) -> None:
        """Come to the application's first page."""
        await self.person.visit(SINGLE_PAGE)

    async def signs_in(self, button: str = "#sign-in") -> dict[str, Any]:
        """Press a button of the application and sign in; the user whom the library made of it."""
        await self.opens()
        await self.person.press(button)
        return (await self.person.arrive()).content

    async def does(self, script: str) -> Any:
        """The value of an expression in the page."""
        return await self.person.page.evaluate(script)

    async def user(self) -> dict[str, Any]:
        """The user in the library's store."""
        user: dict[str, Any] = await self.does("manager.getUser()")
        return user


async def signs_in(visitor: Visitor, steps: Steps) -> None:
    """By redirect, with userinfo."""
    with steps.step("signinRedirect: comes back with the person and the application's own state"):
        user = await visitor.signs_in()
        assert user["profile"]["sub"] == SUBJECT
        assert user["state"] == {"from": "here"}
    with steps.step("userinfo: the claims are in the profile"):
        assert user["profile"]["email"] == "alice@example.com"


async def renews(visitor: Visitor, steps: Steps) -> None:
    """Unseen: in a frame, by itself, and by refresh token."""
    with steps.step("signinSilent: new tokens by prompt=none in a frame"):
        first = await visitor.user()
        assert first["refresh_token"] is None
        renewed = await visitor.does("manager.signinSilent()")
        assert renewed["access_token"] != first["access_token"]
    with steps.step("automatic silent renew: new tokens before the old ones end"):
        loaded = "new Promise(done => { manager.events.addUserLoaded(done); manager.startSilentRenew() })"
        again = await visitor.does(loaded)
        assert again["access_token"] != renewed["access_token"]
        await visitor.does("manager.stopSilentRenew()")
    with steps.step("signinSilent: new tokens by refresh token, which is a new one as well"):
        first = await visitor.signs_in("#sign-in-offline")
        renewed = await visitor.does("manager.signinSilent()")
        assert renewed["refresh_token"] != first["refresh_token"]
        assert renewed["profile"]["sub"] == SUBJECT


async def signs_out(visitor: Visitor, steps: Steps) -> None:
    """Tokens revoked, session ended."""
    with steps.step("revokeTokens: userinfo refuses the token"):
        token = (await visitor.user())["access_token"]
        await visitor.does("manager.revokeTokens()")
        asked = (
            f"fetch('{ISSUER}/connect/userinfo', {{headers: {{authorization: 'Bearer {token}'}}}})"
        )
        assert await visitor.does(f"{asked}.then(answer => answer.status)") == 401
    with steps.step("signoutRedirect: comes back with the application's own state"):
        await visitor.opens()
        await visitor.person.press("#sign-out")
        assert (await visitor.person.arrive()).content["userState"] == {"from": "here"}
        assert await visitor.user() is None
    with steps.step("signed out: prompt=none is refused"):
        refusal = "manager.signinSilent().catch(refused => refused.error)"
        assert await visitor.does(refusal) == "login_required"


async def notices(visitor: Visitor, steps: Steps) -> None:
    """The events at the provider in another window (OpenID Connect Session Management §3)."""
    with steps.step("querySessionStatus: prompt=none in a frame says who is signed in"):
        await visitor.signs_in()
        assert (await visitor.does("manager.querySessionStatus()"))["sub"] == SUBJECT
    with steps.step("session monitoring: the frame finds nothing while nothing changes"):
        await visitor.does("manager.events.addUserSessionChanged(() => (window.changed = true))")
        await asyncio.sleep(TWO_LOOKS)
        assert await visitor.does("window.changed") is None
    with steps.step("session monitoring: the frame notices a logout in another window"):
        event = "new Promise(done => manager.events.addUserSignedOut(done))"
        await visitor.does(f"void (window.signedOut = {event})")
        elsewhere = Person(await visitor.person.page.context.new_page())
        await elsewhere.visit(f"{ISSUER}/connect/endsession")
        async with asyncio.timeout(PATIENCE):
            await visitor.does("signedOut")


async def main() -> None:
    """One visitor's day."""
    steps = Steps()
    async with listening(application(), SINGLE_PAGE), a_person() as person:
        visitor = Visitor(person)
        await signs_in(visitor, steps)
        await renews(visitor, steps)
        await signs_out(visitor, steps)
        await notices(visitor, steps)
    steps.finish()


asyncio.run(main())
