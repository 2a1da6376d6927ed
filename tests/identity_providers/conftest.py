"""Providers: a second instance of this very service, and one that misbehaves when told to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.listening import listening
from tests.driving.registry import fresh_configuration, hashed
from tests.driving.service import RunningService
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import CALLBACK, ComeBack, Journey, provider_entry


@dataclass
class Upstream:
    """The provider, at which the service is registered as soon as it has an address."""

    service: RunningService
    configuration: dict[str, Any]

    @property
    def issuer(self) -> str:
        """The URL of the provider."""
        return self.service.issuer

    def register(self, downstream: RunningService, **changes: Any) -> None:
        """Make the service a client of the provider's."""
        self.configuration["clients"].append(
            {
                "client_id": "downstream",
                "client_secrets": [{"sha256": hashed("downstream")}],
                "allowed_grant_types": ["authorization_code"],
                "allowed_scopes": ["openid", "profile", "email"],
                "redirect_uris": [downstream.issuer + CALLBACK],
            }
            | changes
        )
        self.service.reload(self.configuration)


@pytest.fixture
async def upstream(start: Start) -> Upstream:
    """A second instance of this service, with a store of its own."""
    configuration = fresh_configuration() | {"store": {"key_prefix": "upstream"}}
    return Upstream(await start(configuration), configuration)


@pytest.fixture
async def journey(
    upstream: Upstream, service: RunningService, app: ClientApp
) -> AsyncIterator[Journey]:
    """A person on the way to the second instance."""
    upstream.register(service)
    async with Journey.beginning(app, upstream.issuer) as journey:
        yield journey


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    """A provider that does what a test tells it."""
    provider = FakeProvider()
    async with listening(provider.handle) as provider.issuer:
        yield provider


@pytest.fixture
def faked_config(fake: FakeProvider) -> dict[str, Any]:
    """A registry whose provider is the fake one."""
    configuration = fresh_configuration()
    configuration["identity_providers"] = [provider_entry(fake.issuer)]
    return configuration


@pytest.fixture
def come_back(fake: FakeProvider, app: ClientApp) -> ComeBack:
    """Go to the fake provider and come back with what it answers; the page after that."""

    async def there_and_back(
        answer: dict[str, str | None] | None = None, **asked: str | None
    ) -> Page:
        sent = await app.authorize(acr_values="idp:upstream", **asked)
        if not sent.url.startswith(fake.issuer):
            return sent
        return await app.browser.get(fake.answer(sent, **answer or {}))

    return there_and_back
