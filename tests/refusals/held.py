"""The requests of clients with a profile that rows spoil."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tests.driving.dpop import DpopKey
from tests.profiles.held import HeldApp
from tests.refusals.attempts import outcome_of
from tests.refusals.authorization import outcome_of_page, visit
from tests.refusals.row import Outcome
from tests.refusals.world import World
from tests.request_objects.sending import Sender

TYP = "oauth-authz-req+jwt"


def held_app(world: World, client_id: str) -> HeldApp:
    return HeldApp(world.service, world.browser, client_id, key=DpopKey(world.service.issuer))


@dataclass(frozen=True)
class HeldPush:
    """A client with a profile pushes a request, as an object if it signs its requests."""

    client_id: str = "security"

    def __str__(self) -> str:
        return f"pushed request of {self.client_id}"

    async def hold(self, world: World) -> HeldApp:
        return held_app(world, self.client_id)

    async def send(
        self,
        world: World,
        held: HeldApp,
        *,
        object_changes: Mapping[str, Any] | None = None,
        make: Callable[[Sender], str] | None = None,
        plain: bool = False,
        **changes: Any,
    ) -> Outcome:
        if callable(claims := changes.get("claims")):
            changes["claims"] = claims(world.service.issuer)
        if make is not None:
            changes["request"] = make(held.sender)
        elif (self.client_id == "signing" or object_changes is not None) and not plain:
            changes["request"] = await signed(held, **(object_changes or {}))
        return outcome_of(await held.push(**changes))


async def signed(app: HeldApp, alg: str = "ES256", **changes: Any) -> str:
    """Return the usual request as an object of this hour, changed or (None) left out."""
    usual: dict[str, Any] = {"typ": TYP, "nbf": timedelta(0), "exp": timedelta(minutes=5)}
    return await app.sender.signed(alg, **usual | changes)


@dataclass(frozen=True)
class HeldToken:
    """A client with a profile asks for a token for itself."""

    def __str__(self) -> str:
        return "token for security"

    async def hold(self, world: World) -> HeldApp:
        return held_app(world, "security")

    async def send(self, world: World, held: HeldApp, **changes: Any) -> Outcome:
        make: Callable[[World], DpopKey] | None = changes.pop("key", None)
        headers = None if make is None else make(world).header()
        form = {"grant_type": "client_credentials", "scope": "api2"} | changes
        return outcome_of(await held.send("/connect/token", headers=headers, **form))


@dataclass(frozen=True)
class HeldCode:
    """A client with a profile redeems a code."""

    def __str__(self) -> str:
        return "code of security"

    async def hold(self, world: World) -> tuple[HeldApp, str]:
        app = held_app(world, "security")
        page = await app.follow(await app.push())
        return app, page.parameters["code"]

    async def send(self, world: World, held: tuple[HeldApp, str], **changes: Any) -> Outcome:
        app, code = held
        return outcome_of(await app.redeem(code, **changes))


@dataclass(frozen=True)
class HeldVisit:
    """The browser comes with what a client with a profile has pushed, or with a request that was not pushed."""

    client_id: str = "security"

    def __str__(self) -> str:
        return f"authorization request of {self.client_id}"

    async def hold(self, world: World) -> tuple[HeldApp, dict[str, str]]:
        app = held_app(world, self.client_id)
        pushed = await app.push(**await self._request(app))
        return app, {"client_id": app.client_id, "request_uri": pushed["request_uri"]}

    async def send(
        self,
        world: World,
        held: tuple[HeldApp, dict[str, str]],
        *,
        pushed: bool = True,
        **changes: Any,
    ) -> Outcome:
        app, form = held
        if not pushed:
            form = {"client_id": app.client_id, **await self._request(app, **changes)}
        page = await visit(app, f"{world.service.issuer}/connect/authorize", form)
        return outcome_of_page(page, app, "the-state")

    async def _request(self, app: HeldApp, **changes: Any) -> dict[str, Any]:
        if self.client_id == "signing":
            return {"request": await signed(app, **changes)}
        return {**app.parameters(**changes)}
