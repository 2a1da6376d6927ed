"""Fixtures for each module of the suite: a shared provider, a fresh browser, a client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from joserfc.jwk import RSAKey

from tests.certification.fapi2.client import FapiClient
from tests.certification.fapi2.plan import FapiPlan
from tests.certification.plan import Plan
from tests.certification.provider import Provider, providing
from tests.certification.registration import Registrar
from tests.certification.relying_party import RelyingParty
from tests.certification.suite_site import SuiteSite, serving_suite
from tests.conftest import redis_running
from tests.driving.browser import Browser

for_session = pytest_asyncio.fixture(scope="session", loop_scope="session")
in_session = pytest_asyncio.fixture(loop_scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All modules run in one event loop: that of the provider that they share."""
    for item in items:
        if Path(__file__).parent in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """On both stores, if the plan says so; a test that moves the time only where the store's time moves too."""
    if "certified_store" not in metafunc.fixturenames:
        return
    stores: list[Any] = ["embedded"]
    plan: Plan | FapiPlan | None = getattr(metafunc.cls, "plan", None)
    if "clock" not in metafunc.fixturenames and (plan is None or plan.runs_on_redis):
        stores.append(pytest.param("redis", marks=pytest.mark.needs("redis-server")))
    metafunc.parametrize("certified_store", stores, indirect=True, scope="session")


@pytest.fixture(scope="session")
def certified_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The embedded store, or a Redis that no other test empties."""
    if request.param == "embedded":
        yield "memory://"
        return
    with redis_running(tmp_path_factory.mktemp("certified-redis")) as (url, _):
        yield url


@for_session
async def suite_site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SuiteSite]:
    """The URLs that the suite serves."""
    async with serving_suite(tmp_path_factory.getbasetemp()) as site:
        yield site


@for_session
async def provider(
    certified_store: str, suite_site: SuiteSite, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Provider]:
    """The provider under test."""
    folder = tmp_path_factory.mktemp("provider")
    (folder / "suite.crt").symlink_to(tmp_path_factory.getbasetemp() / "suite.crt")
    async with providing(certified_store, folder, suite_site) as running:
        yield running


@in_session
async def browser(provider: Provider) -> AsyncIterator[Browser]:
    """A browser that knows nobody yet."""
    browser = Browser(provider.service.issuer)
    yield browser
    await browser.close()


@pytest.fixture
def plan(request: pytest.FixtureRequest) -> Plan:
    """The run of the test's class."""
    chosen: Plan = request.cls.plan
    return chosen


@pytest.fixture
def fapi_plan(request: pytest.FixtureRequest) -> FapiPlan:
    """The run of the test's class, of a FAPI plan."""
    chosen: FapiPlan = request.cls.plan
    return chosen


@in_session
async def client(provider: Provider, browser: Browser, fapi_plan: FapiPlan) -> FapiClient:
    """The first client of the run."""
    return FapiClient(
        provider=provider, browser=browser, plan=fapi_plan, client_id=fapi_plan.client_id
    )


@in_session
async def second_client(provider: Provider, browser: Browser, fapi_plan: FapiPlan) -> FapiClient:
    """The second one, in the same browser; its redirect URI has a query."""
    return FapiClient(
        provider=provider,
        browser=browser,
        plan=fapi_plan,
        client_id=fapi_plan.client_id + "-2",
        redirect_uri=provider.redirect_uri + "?dummy1=lorem&dummy2=ipsum",
    )


@pytest.fixture(scope="session")
def suite_keys() -> tuple[RSAKey, RSAKey]:
    """The key of the suite's clients, and the one that comes after it; neither has a name."""
    return RSAKey.generate_key(auto_kid=False), RSAKey.generate_key(auto_kid=False)


@in_session
async def registrar(
    provider: Provider, browser: Browser, plan: Plan, suite_keys: tuple[RSAKey, RSAKey]
) -> AsyncIterator[Registrar]:
    """Registers clients for the plan's response type, and takes them away in the end."""
    registrar = Registrar(provider, browser, plan, suite_keys[0])
    yield registrar
    await registrar.take_away()


Enter = Callable[..., Awaitable[RelyingParty]]


@pytest.fixture
def enter(provider: Provider, browser: Browser, plan: Plan, registrar: Registrar) -> Enter:
    """A client of the plan, in that browser: of the file, by the end of its name, or registered just now."""

    async def entered(suffix: str = "", auth_method: str = "client_secret_basic") -> RelyingParty:
        if plan.client_id is None:
            registrar.auth_method = auth_method
            return await registrar.register(grant_types=registrar.grant_types("refresh_token"))
        return RelyingParty(
            provider=provider,
            browser=browser,
            plan=plan,
            client_id=plan.client_id + suffix,
            auth_method=auth_method,
        )

    return entered


@in_session
async def party(enter: Enter) -> RelyingParty:
    """The suite's first client."""
    return await enter()


@in_session
async def second_party(enter: Enter) -> RelyingParty:
    """Its second one, in the same browser."""
    return await enter("-2")


@in_session
async def posting_party(enter: Enter) -> RelyingParty:
    """The one that authenticates by client_secret_post."""
    return await enter("-post", "client_secret_post")
