"""Imitates Traefik with a file of its dynamic configuration, after its documentation of `headers` and `forwardAuth`.

Traefik itself takes its place where `make traefik` has built it, as CI does; that takes minutes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import yaml
from aiohttp import ClientConnectionError, ClientSession, web
from multidict import CIMultiDict

from tests.driving.listening import listening

HOP_BY_HOP = ("Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length", "Host")


@asynccontextmanager
async def serving_by(file: str, *, port: int) -> AsyncIterator[str]:
    """The one router of the file with this text, at this port."""
    http = yaml.safe_load(file)["http"]
    (router,) = http["routers"].values()
    (server,) = http["services"][router["service"]]["loadBalancer"]["servers"]
    chain = [http["middlewares"][name] for name in router["middlewares"]]

    async def handle(request: web.Request) -> web.StreamResponse:
        if router["rule"] != f"Host(`{request.host.partition(':')[0]}`)":
            return web.Response(status=404)
        headers = CIMultiDict(request.headers)
        for middleware in chain:
            ((kind, options),) = middleware.items()
            if kind == "headers":
                replace(headers, options["customRequestHeaders"])
            elif (refused := await forward_auth(request, headers, options)) is not None:
                return refused
        return await ask(request.method, server["url"] + request.path_qs, headers)

    async with listening(handle, port=port) as url:
        yield url


def replace(headers: CIMultiDict[str], custom: Mapping[str, str]) -> None:
    """An empty value removes a header."""
    for name, value in custom.items():
        headers.popall(name, None)
        if value:
            headers[name] = value


async def forward_auth(
    request: web.Request, headers: CIMultiDict[str], options: Mapping[str, Any]
) -> web.Response | None:
    """Ask by GET with all headers and no body; any other answer than 2xx goes to the caller as it is."""
    assert not options.get("trustForwardHeader")
    forwarded = {
        "X-Forwarded-Method": request.method,
        "X-Forwarded-Proto": request.scheme,
        "X-Forwarded-Host": request.host,
        "X-Forwarded-Uri": request.path_qs,
        "X-Forwarded-For": str(request.remote),
    }
    asked = CIMultiDict(headers)
    replace(asked, forwarded)
    try:
        answer = await ask("GET", options["address"], asked)
    except ClientConnectionError:
        return web.Response(status=500)
    if not 200 <= answer.status < 300:
        return answer
    replace(
        headers, {name: answer.headers.get(name, "") for name in options["authResponseHeaders"]}
    )
    return None


async def ask(method: str, url: str, headers: CIMultiDict[str]) -> web.Response:
    kept = [(name, value) for name, value in headers.items() if name.title() not in HOP_BY_HOP]
    async with ClientSession() as http, http.request(method, url, headers=kept) as answer:
        seen = CIMultiDict(answer.headers)
        for name in HOP_BY_HOP:
            seen.popall(name, None)
        return web.Response(status=answer.status, headers=seen, body=await answer.read())
