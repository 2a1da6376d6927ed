"""docs/tenants.md: its example is a configuration, and people sign in as the page says."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.conftest import Start
from tests.documentation.reading import REPOSITORY, blocks
from tests.driving.browser import Browser, Page

PAGE = REPOSITORY / "docs" / "tenants.md"


def example() -> tuple[dict[str, Any], str]:
    configuration, _, url, *_ = blocks(PAGE)
    return yaml.safe_load(configuration.text), url.text.strip()


@pytest.mark.usefixtures("one_store")
async def test_the_example_lets_in_whom_the_page_says(start: Start) -> None:
    configuration, url = example()
    configuration |= {"issuer": "http://localhost:0", "signing": {"algorithms": ["ES256"]}}
    service = await start(configuration)

    async def sign_in(username: str, tenant: str, client: str = "portal") -> Page:
        browser = Browser(service.issuer)
        asked = url.replace("http://localhost:8080", service.issuer).replace("tenant:beta", tenant)
        asked = asked.replace("client_id=portal", f"client_id={client}")
        asked = asked if client == "portal" else asked.replace("+organisation", "")
        login = await browser.get(asked)
        password = username.partition("@")[0]
        page = await browser.log_in(login, username, password=password)
        await browser.close()
        return page

    alice, bob = "alice@acme.example", "bob"
    assert "code" in (await sign_in(bob, "tenant:beta")).parameters
    assert "code" in (await sign_in(alice, "tenant:acme")).parameters
    assert "code" in (await sign_in(alice, "", client="ledger")).parameters
    for refused in (
        await sign_in(alice, "tenant:beta"),
        await sign_in(bob, "tenant:acme"),
        await sign_in(bob, "", client="ledger"),
    ):
        assert refused.text_of("login-error").startswith("The user name or password is wrong")
