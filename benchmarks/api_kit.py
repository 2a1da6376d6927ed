"""Measures the cost of reading an access token in an API: the kit of `api/`, PyJWT, Authlib, and a call by httpx each time."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

import httpx2
import jwt
from aiohttp import web
from authlib.oauth2.rfc9068 import JWTBearerTokenValidator
from joserfc.jwk import KeySet

from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.machine import free_port

sys.path.append(str(Path(__file__).parents[1] / "api"))

from oauth_resource_server import ClientSecret, Demand, Request, ResourceServer
from oauth_resource_server.testing import LocalIssuer

TOKENS = 1000
SCOPE = "orders.read"
DEMAND = Demand(scope=(SCOPE,))

Read = Callable[[str], Awaitable[object]]


def measure(effort: Effort) -> list[Finding]:
    """All in one process, in turns; the medians of the rounds."""
    return asyncio.run(_measure(effort))


async def _measure(effort: Effort) -> list[Finding]:
    issuer = LocalIssuer()
    tokens = [issuer.token(SCOPE) for _ in range(TOKENS)]
    found = [
        *await _verified("a new JWT", issuer, tokens, effort, at_least=0.9),
        *await _verified("a JWT that comes again", issuer, tokens[:1] * TOKENS, effort, at_least=5),
    ]
    with _serving(issuer) as url:
        return found + await _introspected(issuer, url, effort)


async def _verified(
    what: str, issuer: LocalIssuer, tokens: list[str], effort: Effort, *, at_least: float
) -> list[Finding]:
    kit = ResourceServer(issuer.url, audience=issuer.audience, http=issuer)
    readers: Mapping[str, Read] = {
        "the kit": partial(_by_kit, kit),
        "PyJWT": partial(_by_pyjwt, issuer, jwt.PyJWK(issuer.keys[-1].as_dict(private=False))),
        "Authlib": partial(_by_authlib, _Validator(issuer)),
    }

    async def forget() -> None:
        kit.connect(issuer)
        await kit.authenticate(_request(issuer.token()))  # fetches the keys

    return _findings(what, await _in_turns(readers, tokens, effort, forget), at_least)


async def _introspected(issuer: LocalIssuer, url: str, effort: Effort) -> list[Finding]:
    issuer.url = url
    endpoint, credentials = f"{url}/introspect", ClientSecret("orders", "secret")
    kit = ResourceServer(
        url, audience=issuer.audience, credentials=credentials, introspection_cache=60
    )
    tokens = [issuer.opaque_token(SCOPE)] * (TOKENS // 4)
    async with httpx2.AsyncClient() as client:
        readers: Mapping[str, Read] = {
            "the kit": partial(_by_kit, kit),
            "httpx each time": partial(_by_httpx, client, endpoint),
        }
        rates = await _in_turns(readers, tokens, effort, lambda: asyncio.sleep(0))
    await kit.aclose()
    return _findings("a kept introspection", rates, at_least=10)


async def _in_turns(
    readers: Mapping[str, Read],
    tokens: list[str],
    effort: Effort,
    before: Callable[[], Awaitable[None]],
) -> dict[str, list[float]]:
    """Return tokens per second of the API's own CPU time, of each reader in each round."""
    rates: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(effort.rounds):
        for name, read in readers.items():
            await before()
            began = time.thread_time()
            for token in tokens:
                await read(token)
            rates[name].append(len(tokens) / (time.thread_time() - began))
    return rates


def _findings(what: str, rates: Mapping[str, list[float]], at_least: float) -> list[Finding]:
    own, *others = rates
    per_second = [
        Finding(what=f"{what}, {name}", figure=median(rates[name]), unit="per CPU-s")
        for name in rates
    ]
    ratios = [
        Finding(
            what=f"{what}, the kit to {name}",
            figure=median(a / b for a, b in zip(rates[own], rates[name], strict=True)),
            at_least=at_least,
        )
        for name in others
    ]
    return per_second + ratios


def _request(token: str) -> Request:
    return Request(method="GET", path="/", headers=[("authorization", f"Bearer {token}")])


async def _by_kit(kit: ResourceServer, token: str) -> object:
    return await kit.authenticate(_request(token), DEMAND)


async def _by_pyjwt(issuer: LocalIssuer, key: Any, token: str) -> object:
    """As its documentation says, with the scope; it reads the type of the token nowhere."""
    options: Any = {"require": ["exp", "sub", "client_id"]}
    claims = jwt.decode(
        token,
        key,
        algorithms=["ES256"],
        issuer=issuer.url,
        audience=issuer.audience,
        options=options,
    )
    assert SCOPE in claims["scope"].split()
    return claims


class _Validator(JWTBearerTokenValidator):  # type: ignore[misc]
    def __init__(self, issuer: LocalIssuer) -> None:
        super().__init__(issuer.url, issuer.audience)
        published: Any = {"keys": [key.as_dict(private=False) for key in issuer.keys]}
        self.jwks = KeySet.import_key_set(published)  # read once, as Authlib asks for

    def get_jwks(self) -> object:
        return self.jwks


async def _by_authlib(validator: _Validator, token: str) -> object:
    claims = validator.authenticate_token(token)
    validator.validate_token(claims, [SCOPE], None)
    return claims


async def _by_httpx(client: httpx2.AsyncClient, endpoint: str, token: str) -> object:
    answer = await client.post(endpoint, data={"token": token}, auth=("orders", "secret"))
    claims = answer.json()
    assert claims["active"] is True
    assert SCOPE in claims["scope"].split()
    return claims


@contextmanager
def _serving(issuer: LocalIssuer) -> Iterator[str]:
    """Run the issuer on a socket, in a thread; what it computes is not counted."""

    async def answer(request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        sent = await issuer.send(issuer.url + request.path, {}, form or None)
        return web.Response(status=sent.status, body=sent.body)

    async def serve() -> web.AppRunner:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        return runner

    port, loop = free_port(), asyncio.new_event_loop()
    Thread(target=loop.run_forever, daemon=True).start()
    runner = asyncio.run_coroutine_threadsafe(serve(), loop).result()
    yield f"http://127.0.0.1:{port}"
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
