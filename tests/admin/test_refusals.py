"""Requests that the admin API refuses: status, error, and nothing that alice has is changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from service.events.admin import AdminAction, AdminRefused
from service.protocol.octets import base64url
from tests.admin.conftest import ALICE, token_of
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.service import Answer, RunningService, basic, claims_in

pytestmark = [pytest.mark.rfc("6750#3.1", "9449#7.1"), pytest.mark.usefixtures("one_store")]

SESSIONS = f"/admin/users/{ALICE}/sessions"
UNLOCK = f"/admin/users/{ALICE}/unlock"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass
class World:
    """Alice is signed in at `desk`, by which she may operate the service, and at `web`."""

    service: RunningService
    desk: ClientApp
    tokens: Answer

    async def own(self, scope: str = "admin.read admin.write") -> str:
        """A token of the client `operations` itself."""
        return await token_of(self.service, "operations", scope)

    async def end(self, token: str | None, **options: Any) -> Answer:
        """Try to end her sessions."""
        return await self.service.admin("DELETE", SESSIONS, token, **options)

    async def ask(self, method: str, path: str, **options: Any) -> Answer:
        """A request with a good token."""
        return await self.service.admin(method, path, await self.own(), **options)

    async def bound(self) -> tuple[str, DpopKey]:
        """A token that is bound to a key, and the key."""
        key = DpopKey(self.service.issuer)
        form = {"grant_type": "client_credentials", "scope": "admin.write"}
        sent = {"DPoP": key.proof()}
        answer = await self.service.post("/connect/token", auth="operations", headers=sent, **form)
        return answer["access_token"], DpopKey(str(self.service.admin_url), key=key.key)

    async def end_bound(self, token: str, proof: str) -> Answer:
        """Try to end her sessions with a proof."""
        return await self.end(None, headers={"Authorization": f"DPoP {token}", "DPoP": proof})

    async def kept(self) -> tuple[object, ...]:
        """Return all that alice has, and the keys."""
        shared = self.service.features.shared
        return (
            [one.id for one in await shared.sessions.find_all_of(ALICE)],
            {one.id for one in await shared.authorizations.find_all_of(ALICE)},
            await shared.kv.get(f"{shared.prefix}:keys"),
        )


@pytest.fixture
async def world(service: RunningService, browser: Browser) -> World:
    """The service with alice in it."""
    desk = ClientApp(service, browser, "desk")
    return World(service, desk, await desk.tokens(scope="openid offline_access admin.write api1"))


def unsigned(token: str) -> str:
    """The same claims, without a signature."""
    head = base64url(orjson.dumps({"alg": "none", "typ": "at+jwt"}))
    return f"{head}.{token.split('.')[1]}."


def changed(token: str, **claims: Any) -> str:
    """Other claims, with the signature of these."""
    head, _, signature = token.split(".")
    return f"{head}.{base64url(orjson.dumps(claims_in(token) | claims))}.{signature}"


async def by_two_tokens(world: World) -> Answer:
    token = await world.own()
    headers = [("Authorization", f"Bearer {token}"), ("Authorization", "Bearer x")]
    url = f"{world.service.admin_url}{SESSIONS}"
    async with world.service.http.delete(url, headers=headers) as response:
        return Answer(response.status, response.headers, await response.read())


async def by_header_and_form(world: World) -> Answer:
    token = await world.own()
    return await world.ask("POST", UNLOCK, data=f"access_token={token}", headers=FORM)


async def by_revoked(world: World) -> Answer:
    token = str(world.tokens["access_token"])
    await world.service.post("/connect/revocation", auth="desk", token=token)
    return await world.end(token)


async def by_user(world: World) -> Answer:
    browser = Browser(world.service.issuer)
    tokens = await ClientApp(world.service, browser, "desk").tokens(
        "bob", scope="admin.write openid"
    )
    await browser.close()
    return await world.end(tokens["access_token"])


async def by_replayed_proof(world: World) -> Answer:
    token, key = await world.bound()
    proof = key.proof("/admin/keys", "GET", access_token=token)
    sent = {"Authorization": f"DPoP {token}", "DPoP": proof}
    first = await world.service.admin("GET", "/admin/keys", headers=sent)
    assert first.status == 200
    return await world.service.admin("GET", "/admin/keys", headers=sent)


async def by_proof(world: World, path: str, method: str, *, issuer: bool = False) -> Answer:
    token, key = await world.bound()
    if issuer:
        key = DpopKey(world.service.issuer, key=key.key)
    return await world.end_bound(token, key.proof(path, method, access_token=token))


async def by_bound(world: World, scheme: str) -> Answer:
    token = (await world.bound())[0] if scheme == "Bearer" else await world.own()
    key = DpopKey(str(world.service.admin_url))
    proof = key.proof(SESSIONS, "DELETE", access_token=token)
    proofs = {} if scheme == "Bearer" else {"DPoP": proof}
    return await world.end(None, headers={"Authorization": f"{scheme} {token}"} | proofs)


async def by_code(world: World) -> Answer:
    return await world.end(await world.desk.code(scope="openid admin.write"))


async def by_password(world: World) -> Answer:
    return await world.end((await world.service.user_token())["access_token"])


Attempt = Callable[[World], Awaitable[Answer]]

TOKENS: dict[str, tuple[Attempt, int, str]] = {
    "no token": (lambda world: world.end(None), 401, "invalid_token"),
    "the client's secret": (
        lambda world: world.end(
            None, headers={"Authorization": basic("operations", "operations-secret")}
        ),
        *(401, "invalid_token"),
    ),
    "random text": (lambda world: world.end("x" * 40), 401, "invalid_token"),
    "a long random text": (lambda world: world.end("x" * 7000), 401, "invalid_token"),
    "a token in the query": (
        lambda world: world.service.admin("DELETE", f"{SESSIONS}?access_token=x"),
        *(401, "invalid_token"),
    ),
    "two tokens": (by_two_tokens, 400, "invalid_request"),
    "a token in header and form": (by_header_and_form, 400, "invalid_request"),
    "a token without a signature": (
        lambda world: world.end(unsigned(world.tokens["access_token"])),
        *(401, "invalid_token"),
    ),
    "a token with another audience written in": (
        lambda world: world.end(changed(world.tokens["access_token"], aud=world.service.admin_url)),
        *(401, "invalid_token"),
    ),
    "a token for another API as well": (
        lambda world: world.end(world.tokens["access_token"]),
        *(401, "invalid_token"),
    ),
    "an ID token": (lambda world: world.end(world.tokens["id_token"]), 401, "invalid_token"),
    "a refresh token": (
        lambda world: world.end(world.tokens["refresh_token"]),
        *(401, "invalid_token"),
    ),
    "an authorization code": (by_code, 401, "invalid_token"),
    "a user's token for another API": (by_password, 401, "invalid_token"),
    "a revoked token": (by_revoked, 401, "invalid_token"),
    "a bound token as a bearer token": (
        lambda world: by_bound(world, "Bearer"),
        *(401, "invalid_token"),
    ),
    "a bearer token with a proof": (lambda world: by_bound(world, "DPoP"), 401, "invalid_token"),
    "a proof for the issuer's URL": (
        lambda world: by_proof(world, SESSIONS, "DELETE", issuer=True),
        *(401, "invalid_dpop_proof"),
    ),
    "a proof for another path": (
        lambda world: by_proof(world, "/admin/keys", "DELETE"),
        *(401, "invalid_dpop_proof"),
    ),
    "a proof for another method": (
        lambda world: by_proof(world, SESSIONS, "GET"),
        *(401, "invalid_dpop_proof"),
    ),
    "a proof that was used": (by_replayed_proof, 401, "invalid_dpop_proof"),
    "a user who is not in the list": (by_user, 403, "insufficient_scope"),
}


async def by_reader(world: World, method: str, path: str) -> Answer:
    token = await token_of(world.service, "watching", "admin.read")
    return await world.service.admin(method, path, token)


WRITES = [
    ("DELETE", SESSIONS),
    ("DELETE", f"/admin/users/{ALICE}/grants"),
    ("DELETE", f"/admin/users/{ALICE}/factors"),
    ("POST", UNLOCK),
    ("DELETE", "/admin/sessions/any"),
    ("DELETE", "/admin/grants/any"),
    ("DELETE", "/admin/clients/desk/grants"),
    ("DELETE", "/admin/registered-clients/any"),
    ("POST", "/admin/keys/rotate"),
    ("POST", "/admin/outbox/any/retry"),
]

REQUESTS: dict[str, tuple[str, str, dict[str, Any], int, str]] = {
    "another host": ("DELETE", SESSIONS, {"headers": {"Host": "a.b"}}, 421, "invalid_request"),
    "an unknown path": ("GET", "/admin/nothing", {}, 404, "invalid_request"),
    "a path below one": ("DELETE", f"{SESSIONS}/all", {}, 404, "invalid_request"),
    "all sessions at once": ("DELETE", "/admin/sessions", {}, 404, "invalid_request"),
    "an empty name": ("DELETE", "/admin/users//sessions", {}, 404, "invalid_request"),
    "GET of what is posted": ("GET", UNLOCK, {}, 405, "invalid_request"),
    "DELETE of a client of the file": ("DELETE", "/admin/clients/web", {}, 405, "invalid_request"),
    "PUT of a client": ("PUT", "/admin/clients/web", {"json": {}}, 405, "invalid_request"),
    "POST of a client": ("POST", "/admin/clients", {"json": {}}, 405, "invalid_request"),
    "a parameter that is none": ("DELETE", f"{SESSIONS}?all=1", {}, 400, "invalid_request"),
    "a parameter twice": ("GET", "/admin/clients?limit=1&limit=2", {}, 400, "invalid_request"),
    "a query that is not UTF-8": ("GET", "/admin/clients?cursor=%ff", {}, 400, "invalid_request"),
    "no entries": ("GET", "/admin/clients?limit=0", {}, 400, "invalid_request"),
    "too many entries": ("GET", "/admin/clients?limit=201", {}, 400, "invalid_request"),
    "a number of entries in words": ("GET", "/admin/clients?limit=all", {}, 400, "invalid_request"),
    "no user": ("GET", "/admin/users", {}, 400, "invalid_request"),
    "two searches": ("GET", "/admin/users?sub=1&username=a", {}, 400, "invalid_request"),
    "an explanation of nothing": ("POST", "/admin/explain", {"json": {}}, 400, "invalid_request"),
    "a body that is no JSON": (
        *("POST", "/admin/explain"),
        {"data": "{", "headers": {"Content-Type": "application/json"}},
        *(400, "invalid_request"),
    ),
    "a form": ("POST", "/admin/explain", {"data": {"text": "a"}}, 415, "invalid_request"),
    "a large body": ("POST", "/admin/explain", {"json": {"text": "x" * 70000}}, 413, "invalid_request"),
    "an unknown client": ("GET", "/admin/clients/none", {}, 404, "not_found"),
    "an unknown API": ("GET", "/admin/api-resources/none", {}, 404, "not_found"),
    "an unknown user": ("GET", "/admin/users/none", {}, 404, "not_found"),
    "an unknown session": ("GET", "/admin/sessions/none", {}, 404, "not_found"),
    "an unknown grant": ("GET", "/admin/grants/none", {}, 404, "not_found"),
    "an unknown message": ("POST", "/admin/outbox/logout.none/retry", {}, 404, "not_found"),
    "ways of an unknown client": ("GET", "/admin/why?client=a&api=api1", {}, 404, "not_found"),
}  # fmt: skip


@pytest.mark.parametrize("name", TOKENS)
async def test_token_is_refused_and_audited(world: World, name: str) -> None:
    attempt, status, error = TOKENS[name]
    before = await world.kept()
    answer = await attempt(world)
    assert answer.refusal == (status, error)
    sessions_and_keys = slice(None, None, 2)  # some attempts make or revoke a grant of their own
    assert (await world.kept())[sessions_and_keys] == before[sessions_and_keys]
    assert [one.error for one in world.service.events if isinstance(one, AdminRefused)] == [error]


@pytest.mark.parametrize(("method", "path"), WRITES)
async def test_reader_changes_nothing(world: World, method: str, path: str) -> None:
    before = await world.kept()
    answer = await by_reader(world, method, path)
    assert answer.refusal == (403, "insufficient_scope")
    assert await world.kept() == before
    assert not any(isinstance(one, AdminAction) for one in world.service.events)


@pytest.mark.parametrize("name", REQUESTS)
async def test_request_is_refused(world: World, name: str) -> None:
    method, path, options, status, error = REQUESTS[name]
    before = await world.kept()
    answer = await world.ask(method, path, **options)
    assert answer.refusal == (status, error)
    assert await world.kept() == before
    assert not any(isinstance(one, AdminAction) for one in world.service.events)


@pytest.mark.parametrize("name", ["a\x00b", "../..", "%", "*", "{", "'; DROP", "\u202e"])
async def test_strange_names_end_nothing(world: World, name: str) -> None:
    before = await world.kept()
    answer = await world.ask("DELETE", f"/admin/users/{quote(name, safe='')}/sessions")
    assert answer.status in (204, 404)
    assert await world.kept() == before
