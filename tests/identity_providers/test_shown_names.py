"""Pages show a user whose name at the provider is no text, or a long one (OIDC Core §5.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import ComeBack, arrived

pytestmark = [pytest.mark.rfc("openid-core#5.1"), pytest.mark.usefixtures("one_store")]

NAMES: dict[str, object] = {"a number": 5, "an object": {"first": "Alice"}, "a list": ["Alice"]}


@pytest.fixture
def config(faked_config: dict[str, Any]) -> dict[str, Any]:
    return faked_config


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
async def test_pages_show_a_user_whose_name_is_no_text_by_another_one(
    fake: FakeProvider, come_back: ComeBack, app: ClientApp, name: object
) -> None:
    fake.claims = {"name": name, "preferred_username": name, "email": "alice@there.example"}
    assert arrived(await come_back())
    for path in ("/account", "/account/security", "/account/requests"):
        assert "<strong>alice@there.example</strong>" in (await app.browser.get(path)).text


async def test_pages_shorten_names_that_would_fill_the_screen(
    fake: FakeProvider, come_back: ComeBack, app: ClientApp
) -> None:
    fake.claims = {"name": "A" * 500, "preferred_username": "a" * 500}
    assert arrived(await come_back())
    for path in ("/account", "/account/security", "/account/requests"):
        page = (await app.browser.get(path)).text
        assert f"<strong>{'A' * 79}…</strong> · {'a' * 79}…</span>" in page
