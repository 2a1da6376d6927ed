"""The guard of each framework answers alike: the caller to the endpoint, or the status and challenge to the client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import django
import httpx2
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from django.conf import settings as django_settings
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, JsonResponse
from django.urls import path
from fastapi import FastAPI
from flask import Flask, g
from litestar import Litestar
from litestar import Request as LitestarRequest
from litestar import get as litestar_get
from oauth_resource_server import Caller, ResourceServer
from oauth_resource_server import aiohttp as aiohttp_guards
from oauth_resource_server import django as django_guards
from oauth_resource_server import fastapi as fastapi_guards
from oauth_resource_server import flask as flask_guards
from oauth_resource_server import litestar as litestar_guards
from oauth_resource_server import starlette as starlette_guards
from oauth_resource_server.testing import DpopKey, LocalIssuer
from starlette.applications import Starlette
from starlette.requests import Request as StarletteRequest
from starlette.responses import JSONResponse

from .conftest import URL, MakeApi

READ, STRONG = "orders.read", "gold"
WELL_KNOWN = "/.well-known/oauth-protected-resource"
Ask = Callable[[str, dict[str, str]], Awaitable[httpx2.Response]]


def through_asgi(app: Any) -> Ask:
    """Return what asks an ASGI application."""

    async def ask(target: str, headers: dict[str, str]) -> httpx2.Response:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url=URL) as client:
            return await client.get(target, headers=headers)

    return ask


def through_wsgi(app: Any) -> Ask:
    """Return what asks a WSGI application, in a thread as its server does."""

    async def ask(target: str, headers: dict[str, str]) -> httpx2.Response:
        def send() -> httpx2.Response:
            with httpx2.Client(transport=httpx2.WSGITransport(app), base_url=URL) as client:
                return client.get(target, headers=headers)

        return await asyncio.to_thread(send)

    return ask


def use_fastapi(server: ResourceServer) -> Ask:
    app, guard = FastAPI(), fastapi_guards.Guard(server)
    guard.publish_metadata(app)
    reader = guard(READ)

    @app.get("/orders")
    async def orders(caller: Caller = reader) -> dict[str, str]:
        return {"subject": caller.subject}

    @app.get("/strong", dependencies=[guard(acr=STRONG)])
    def strong() -> dict[str, str]:
        return {}

    return through_asgi(app)


def use_starlette(server: ResourceServer) -> Ask:
    app, guard = Starlette(), starlette_guards.Guard(server)
    guard.publish_metadata(app)

    @guard(READ)
    async def orders(request: StarletteRequest) -> JSONResponse:
        return JSONResponse({"subject": request.state.caller.subject})

    @guard(acr=STRONG)
    def strong(_: StarletteRequest) -> JSONResponse:
        return JSONResponse({})

    app.add_route("/orders", orders)
    app.add_route("/strong", strong)
    return through_asgi(app)


def use_litestar(server: ResourceServer) -> Ask:
    guard = litestar_guards.Guard(server)

    @litestar_get("/orders", guards=[guard(READ)])
    async def orders(request: LitestarRequest[Any, Any, Any]) -> dict[str, str]:
        return {"subject": request.state.caller.subject}

    @litestar_get("/strong", guards=[guard(acr=STRONG)])
    async def strong() -> dict[str, str]:
        return {}

    return through_asgi(Litestar([orders, strong, guard.metadata_handler()], openapi_config=None))


def use_flask(server: ResourceServer) -> Ask:
    app, guard = Flask(__name__), flask_guards.Guard(server)
    guard.publish_metadata(app)

    @app.get("/orders")
    @guard(READ)
    def orders() -> dict[str, str]:
        return {"subject": g.caller.subject}

    @app.get("/strong")
    @guard(acr=STRONG)
    async def strong() -> dict[str, str]:
        return {}

    return through_wsgi(app)


def use_aiohttp(server: ResourceServer) -> Ask:
    guard = aiohttp_guards.Guard(server)

    @guard(READ)
    async def orders(request: web.Request) -> web.Response:
        return web.json_response({"subject": request[aiohttp_guards.CALLER].subject})

    @guard(acr=STRONG)
    async def strong(_: web.Request) -> web.Response:
        return web.json_response({})

    async def ask(target: str, headers: dict[str, str]) -> httpx2.Response:
        app = web.Application()
        app.add_routes([web.get("/orders", orders), web.get("/strong", strong)])
        app.add_routes([guard.metadata_route()])
        async with TestClient(TestServer(app)) as client, client.get(target, headers=headers) as r:
            return httpx2.Response(
                r.status, headers=list(r.headers.items()), content=await r.read()
            )

    return ask


class Urls:
    """The URL configuration of Django, as a module has it."""

    urlpatterns: Any = ()


def django_urls(server: ResourceServer, orders: Any, strong: Any) -> None:
    """Take the place of the URL configuration."""
    guard = django_guards.Guard(server)
    Urls.urlpatterns = [
        path("orders", guard(READ)(orders)),
        path("strong", guard(acr=STRONG)(strong)),
        guard.metadata_url_pattern(),
    ]
    if not django_settings.configured:
        django_settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=Urls, SECRET_KEY="s")
        django.setup()
    django.urls.clear_url_caches()


def use_django(server: ResourceServer) -> Ask:
    def orders(request: Any) -> JsonResponse:
        return JsonResponse({"subject": request.caller.subject})

    def strong(_: HttpRequest) -> JsonResponse:
        return JsonResponse({})

    django_urls(server, orders, strong)
    return through_wsgi(WSGIHandler())


def use_django_async(server: ResourceServer) -> Ask:
    async def orders(request: Any) -> JsonResponse:
        return JsonResponse({"subject": request.caller.subject})

    async def strong(_: HttpRequest) -> JsonResponse:
        return JsonResponse({})

    django_urls(server, orders, strong)
    return through_asgi(ASGIHandler())


FRAMEWORKS = {
    "fastapi": use_fastapi,
    "starlette": use_starlette,
    "litestar": use_litestar,
    "aiohttp": use_aiohttp,
    "flask": use_flask,
    "django": use_django,
    "django async": use_django_async,
}


@pytest.fixture(params=FRAMEWORKS.values(), ids=[*FRAMEWORKS])
def ask(request: pytest.FixtureRequest, make_api: MakeApi) -> Ask:
    """Return what asks an API in one framework."""
    use: Callable[[ResourceServer], Ask] = request.param
    return use(make_api())


def bearer(token: str) -> dict[str, str]:
    """Return the headers of a request with a bearer token."""
    return {"Authorization": f"Bearer {token}"}


async def test_endpoint_knows_its_caller(ask: Ask, local_issuer: LocalIssuer) -> None:
    answer = await ask("/orders", bearer(local_issuer.token(READ)))
    assert (answer.status_code, answer.json()) == (200, {"subject": "alice"})
    answer = await ask("/strong", bearer(local_issuer.opaque_token(acr=STRONG)))
    assert (answer.status_code, answer.json()) == (200, {})


async def test_client_without_a_token_gets_the_challenge(ask: Ask) -> None:
    answer = await ask("/orders", {})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith(
        'Bearer scope="orders.read", resource_metadata='
    )
    assert answer.headers["Content-Type"].startswith("application/json")
    assert "no access token" in answer.text


async def test_client_with_too_little_gets_the_challenge(
    ask: Ask, local_issuer: LocalIssuer
) -> None:
    answer = await ask("/orders", bearer(local_issuer.token("orders.write")))
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]
    assert "insufficient_scope" in answer.text
    answer = await ask("/strong", bearer(local_issuer.token(READ)))
    assert answer.status_code == 401
    assert 'acr_values="gold"' in answer.headers["WWW-Authenticate"]


async def test_bound_token_needs_its_proof(
    ask: Ask, local_issuer: LocalIssuer, dpop_key: DpopKey
) -> None:
    token = local_issuer.token(READ, cnf={"jkt": dpop_key.thumbprint})
    headers = dpop_key.headers("GET", f"{URL}/orders", token)
    assert (await ask("/orders?page=2", headers)).status_code == 200
    answer = await ask("/orders", headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith('DPoP error="invalid_dpop_proof"')
    elsewhere = dpop_key.headers("GET", f"{URL}/order%73/", token)
    assert (await ask("/orders", elsewhere)).status_code == 401


async def test_metadata_document_is_published(ask: Ask) -> None:
    answer = await ask(WELL_KNOWN, {})
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json()["resource"] == URL
    assert answer.json()["scopes_supported"] == [READ]


def test_openapi_document_of_fastapi_shows_the_demand(make_api: MakeApi) -> None:
    app, guard = FastAPI(), fastapi_guards.Guard(make_api())

    @app.get("/orders", dependencies=[guard(READ)])
    def orders() -> None:
        """Nothing."""

    document = app.openapi()
    assert document["components"]["securitySchemes"]["AccessToken"]["scheme"] == "bearer"
    assert document["paths"]["/orders"]["get"]["security"] == [{"AccessToken": []}]


@pytest.mark.parametrize("name", ["starlette", "litestar", "aiohttp", "flask", "django"])
def test_only_an_api_with_a_url_has_metadata(make_api: MakeApi, name: str) -> None:
    guards: dict[str, Callable[[ResourceServer], object]] = {
        "starlette": lambda s: starlette_guards.Guard(s).publish_metadata(Starlette()),
        "litestar": lambda s: litestar_guards.Guard(s).metadata_handler(),
        "aiohttp": lambda s: aiohttp_guards.Guard(s).metadata_route(),
        "flask": lambda s: flask_guards.Guard(s).publish_metadata(Flask("x")),
        "django": lambda s: django_guards.Guard(s).metadata_url_pattern(),
    }
    with pytest.raises(ValueError, match="url"):
        guards[name](make_api(url=None))
