"""Every path on which a user comes to use a client: what is done while that is allowed, and what is tried then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.ciba.consumption import Device, open_request
from tests.device.tv import Television
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService
from tests.extension_grants.invitations import InvitationGrant
from tests.jwt_bearer.foreign import Partner
from tests.token_exchange.exchanging import exchange

Outcome = str | tuple[int, str | None]
INVALID_GRANT = (400, "invalid_grant")
SHOP = "https://shop.example"
OFFLINE = "openid api1 offline_access"


@dataclass
class World:
    """The service, alice's browser, and what the first half of a path has left for the second."""

    service: RunningService
    browser: Browser
    kept: Any = None

    def app(self, client_id: str = "web") -> ClientApp:
        return ClientApp(self.service, self.browser, client_id)

    def told(self, answer: Answer) -> Outcome:
        """`ok`, or the refusal."""
        return "ok" if answer.status == 200 else answer.refusal

    def seen(self, page: Page) -> Outcome:
        """`ok` at the client with an answer, its error, or the path of a page of the service."""
        if page.url.startswith(self.service.issuer):
            return page.path
        return page.error or "ok"


Half = Callable[[World], Awaitable[Any]]


@dataclass(frozen=True)
class Path:
    """`begin` runs while alice may use the client; `end` says what she gets then, or after the permission is withdrawn."""

    client: str
    begin: Half
    end: Callable[[World], Awaitable[Outcome]]
    refusal: Outcome = INVALID_GRANT
    refusal_by_tenant: Outcome | None = None
    """Where it is another one for a user of another tenant."""


async def nothing(_: World) -> None: ...


async def sign_in(world: World) -> None:
    await world.app().code()


async def authorize(world: World, **changes: str) -> Outcome:
    return world.seen(await world.app().authorize(**changes))


async def authorize_silently(world: World) -> Outcome:
    return await authorize(world, prompt="none")


async def keep_code(world: World) -> None:
    app = world.app()
    world.kept = app, await app.code()


async def redeem(world: World) -> Outcome:
    app, code = world.kept
    return world.told(await app.redeem(code))


async def front_channel(world: World) -> None:
    await world.app("implicit").login(response_type="id_token token")


async def front_channel_again(world: World) -> Outcome:
    page = await world.app("implicit").authorize(
        response_type="id_token token", prompt="none", scope="openid api1"
    )
    return world.seen(page)


def tokens_of(client: str, kind: str) -> Half:
    async def begin(world: World) -> None:
        world.kept = (await world.service.user_token(client, OFFLINE))[kind]

    return begin


async def by_password(world: World) -> Outcome:
    return world.told(await world.service.user_token())


async def refresh(world: World) -> Outcome:
    form = {"grant_type": "refresh_token", "refresh_token": world.kept}
    return world.told(await world.service.token("frontend", **form))


async def delegate(world: World) -> Outcome:
    form = {"grant_type": "delegation", "token": world.kept, "scope": "api2"}
    return world.told(await world.service.token("api1", **form))


async def exchange_token(world: World) -> Outcome:
    return world.told(await exchange(world.service, world.kept))


async def keep_id_token(world: World) -> None:
    world.kept = (await world.app().tokens())["id_token"]


async def exchange_id_token(world: World) -> Outcome:
    form = {"scope": "api1", "of_type": "id_token"}
    return world.told(await exchange(world.service, world.kept, "web", **form))


async def keep_witnessed(world: World) -> None:
    """A token of alice, and one of `api1` itself, which is to act for her."""
    await tokens_of("frontend", "access_token")(world)
    own = await world.service.token("api1", grant_type="client_credentials", scope="api1")
    world.kept = world.kept, own["access_token"]


async def exchange_witnessed(world: World) -> Outcome:
    token, actor = world.kept
    acting = {"actor_token": actor, "actor_token_type": "access_token"}
    return world.told(await exchange(world.service, token, "broker", **acting))


async def accept_invitation(world: World) -> Outcome:
    form = {"grant_type": InvitationGrant.grant_type, "invitation": "for-alice", "scope": "api1"}
    return world.told(await world.service.token("host", **form))


async def ask_for_transaction_token(world: World) -> Outcome:
    form = {"audience": SHOP, "scope": "checkout", "requested_token_type": "txn_token"}
    return world.told(await exchange(world.service, world.kept, "gateway", **form))


async def present_assertion(world: World) -> Outcome:
    return world.told(await Partner(world.service).present(scope="api1"))


def introspects(caller: str) -> Callable[[World], Awaitable[Outcome]]:
    async def introspect(world: World) -> Outcome:
        answer = await world.service.introspect(world.kept, caller=caller)
        return "ok" if answer["active"] else str(answer.json)

    return introspect


async def ask_userinfo(world: World) -> Outcome:
    headers = {"Authorization": f"Bearer {world.kept}"}
    return world.told(await world.service.get("/connect/userinfo", headers=headers))


async def keep_delegated(world: World) -> None:
    await tokens_of("frontend", "access_token")(world)
    form = {"grant_type": "delegation", "token": world.kept, "scope": "api2"}
    world.kept = (await world.service.token("api1", **form))["access_token"]


async def switch_on(world: World) -> None:
    world.kept = await Television.switch_on(world.service, world.browser)
    await world.kept.confirmation()


async def look_at_device(world: World) -> Outcome:
    page = await world.kept.enter()
    return "ok" if page.has("device-allow") else page.path


async def refuse_device(world: World) -> Outcome:
    """Go back to the device from the page that says so, or allow what it asks for; then poll."""
    page = await world.kept.enter()
    action = "allow" if page.has("device-allow") else "cancel"
    await world.browser.submit(page, action=action)
    return world.told(await world.kept.poll())


async def allow_device(world: World) -> None:
    await switch_on(world)
    await world.kept.decide()


async def poll_device(world: World) -> Outcome:
    return world.told(await world.kept.poll())


async def ask_by_ciba(world: World) -> Outcome:
    return world.told(await Device(world.service).ask())


async def begin_ciba(world: World) -> None:
    world.kept = await Device(world.service).begin()


async def look_at_ciba(world: World) -> Outcome:
    page = await open_request(world.browser, world.kept)
    return "not-allowed" if page.has("not-allowed") else "ok" if page.has("request-allow") else ""


async def allow_ciba(world: World) -> Outcome:
    """Post the form that allows it, whatever the page offers."""
    page = await open_request(world.browser, world.kept)
    await world.browser.submit(page, action="allow")
    return world.told(await Device(world.service).poll(world.kept))


async def decide_ciba(world: World) -> None:
    await begin_ciba(world)
    page = await open_request(world.browser, world.kept)
    assert (await world.browser.submit(page, action="allow")).has("request-done")


async def poll_ciba(world: World) -> Outcome:
    return world.told(await Device(world.service).poll(world.kept))


INACTIVE = str({"active": False})
PAGE = "/account/not-allowed"
LOGIN = "/account/login"

PATHS = {
    "authorize": Path("web", sign_in, authorize, PAGE, LOGIN),
    "authorize, prompt=none": Path(
        "web", sign_in, authorize_silently, "access_denied", "login_required"
    ),
    "tokens from the authorize endpoint": Path(
        "implicit", front_channel, front_channel_again, "access_denied", "login_required"
    ),
    "code": Path("web", keep_code, redeem),
    "password": Path("frontend", nothing, by_password),
    "refresh token": Path("frontend", tokens_of("frontend", "refresh_token"), refresh),
    "delegation to a client": Path("api1", tokens_of("frontend", "access_token"), delegate),
    "delegation of a client's token": Path(
        "frontend", tokens_of("frontend", "access_token"), delegate
    ),
    "exchange by a client": Path("api1", tokens_of("frontend", "access_token"), exchange_token),
    "exchange of a client's token": Path(
        "frontend",
        tokens_of("frontend", "access_token"),
        exchange_token,
        (400, "invalid_request"),
    ),
    "exchange of an ID token": Path("web", keep_id_token, exchange_id_token),
    "exchange with another actor": Path("api1", keep_witnessed, exchange_witnessed),
    "transaction token": Path(
        "gateway", tokens_of("frontend", "access_token"), ask_for_transaction_token
    ),
    "extension grant": Path("host", nothing, accept_invitation),
    "JWT bearer": Path("courier", nothing, present_assertion),
    "introspection of a JWT": Path(
        "frontend", tokens_of("frontend", "access_token"), introspects("api1"), INACTIVE
    ),
    "introspection of a reference": Path(
        "opaque", tokens_of("opaque", "access_token"), introspects("api1"), INACTIVE
    ),
    "introspection of a refresh token": Path(
        "frontend", tokens_of("frontend", "refresh_token"), introspects("frontend"), INACTIVE
    ),
    "introspection of a delegated token": Path(
        "api1", keep_delegated, introspects("api2"), INACTIVE
    ),
    "introspection of what was delegated from it": Path(
        "frontend", keep_delegated, introspects("api2"), INACTIVE
    ),
    "userinfo": Path(
        "frontend", tokens_of("frontend", "access_token"), ask_userinfo, (401, "invalid_token")
    ),
    "device, its page": Path("tv", switch_on, look_at_device, PAGE, LOGIN),
    "device, back to it": Path("tv", switch_on, refuse_device, (400, "access_denied")),
    "device code": Path("tv", allow_device, poll_device),
    "CIBA request": Path(
        "till", nothing, ask_by_ciba, (403, "access_denied"), (400, "unknown_user_id")
    ),
    "CIBA, its page": Path("till", begin_ciba, look_at_ciba, "not-allowed"),
    "CIBA, allowed by a forged form": Path("till", begin_ciba, allow_ciba, (400, "access_denied")),
    "auth_req_id": Path("till", decide_ciba, poll_ciba),
}
