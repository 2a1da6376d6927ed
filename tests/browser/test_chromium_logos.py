"""A client's logo that does not load leaves no broken picture (OpenID Connect Dynamic Client Registration §2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import CLIENT_ID, Application, Person
from tests.driving.chromium import CHROMIUM
from tests.driving.registry import client_in

pytestmark = [pytest.mark.needs(CHROMIUM), pytest.mark.rfc("openid-registration#2")]


@pytest.fixture
def config(config: dict[str, Any], application: Application) -> dict[str, Any]:
    logo = {"client_name": "orders", "logo_uri": f"{application.url}/missing.png"}
    client_in(config, CLIENT_ID).update(logo)
    return config


async def test_letter_takes_the_place_of_a_logo_that_does_not_load(person: Person) -> None:
    await person.asks()
    await person.page.wait_for_selector(".monogram")
    assert await person.sees(".logo") == "O"
    person.complaints.clear()  # of the status 404
