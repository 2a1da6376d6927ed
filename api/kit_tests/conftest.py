"""Fixtures for the tests of the kit: an issuer in memory with real keys, and an API that trusts it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

import httpx2
import pytest
from oauth_resource_server import Caller, ClientSecret, Demand, Refusal, Request, ResourceServer
from oauth_resource_server.testing import LocalIssuer, dpop_key, local_issuer

__all__ = ["dpop_key", "local_issuer"]

ISSUER = "https://login.example.com"
URL = "https://api.example.com"
ORDERS = f"{URL}/orders"
NO_DEMAND = Demand()

MakeApi = Callable[..., ResourceServer]


@pytest.fixture
def make_api(local_issuer: LocalIssuer) -> MakeApi:
    """Return a function that makes an API with settings of its own."""

    def make(**settings: Any) -> ResourceServer:
        usual = {"audience": "orders", "url": URL, "credentials": ClientSecret("orders", "s")}
        return ResourceServer(ISSUER, **{**usual, "http": local_issuer, **settings})

    return make


@pytest.fixture(autouse=True)
def _issuer_is_the_one_of_the_api(local_issuer: LocalIssuer) -> None:
    local_issuer.url, local_issuer.audience = ISSUER, "orders"


@pytest.fixture
def api(make_api: MakeApi) -> ResourceServer:
    """Return an API with the usual settings."""
    return make_api()


def request(headers: dict[str, str] | str = "", **more: Any) -> Request:
    """Return a request for orders; a text is a bearer token."""
    if isinstance(headers, str):
        headers = {"Authorization": f"Bearer {headers}"} if headers else {}
    listed = [(name.lower(), value) for name, value in headers.items()]
    return Request(**{"method": "GET", "path": "/orders", "headers": listed, **more})


async def refusal_of(
    api: ResourceServer, asked: Request | str, demand: Demand = NO_DEMAND
) -> Refusal:
    """Return how the API refuses a request."""
    with pytest.raises(Refusal) as refused:
        await api.authenticate(request(asked) if isinstance(asked, str) else asked, demand)
    return refused.value


async def accepts(api: ResourceServer, asked: Request, demand: Demand = NO_DEMAND) -> bool:
    """Return whether the API accepts a request of alice's; it raises its refusal."""
    return (await api.authenticate(asked, demand)).subject == "alice"


async def authenticate(api: ResourceServer, token: str) -> Caller:
    """Return the caller with a bearer token."""
    return await api.authenticate(request(token))


def fetches(issuer: LocalIssuer, path: str) -> int:
    """Return how often an API has asked the issuer for this."""
    return sum(asked == path for asked, _ in issuer.requests)


async def together(*work: Any) -> list[Any]:
    """Return results and errors of work at the same time."""
    return await asyncio.gather(*work, return_exceptions=True)


@pytest.fixture(autouse=True, scope="session")
def _authorities_are_read_once() -> None:
    """Reading all certificate authorities takes longer than all tests here."""
    httpx2.create_ssl_context = cache(httpx2.create_ssl_context)
