"""Grants that are made while the session ends, end with it (OpenID Connect RP-Initiated Logout §2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

AT_ONCE = 20


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A client that may end the session by its ID token."""
    bye = "https://implicit.example/bye"
    client_in(config, "implicit")["post_logout_redirect_uris"] = [bye]
    return config


def token_in(answer: Answer) -> Any:
    """The access token that the browser is sent away with."""
    fragment = parse_qs(urlsplit(answer.headers.get("Location", "")).fragment)
    return fragment.get("access_token", [None])[0]


async def test_nothing_outlives_the_session_that_it_was_granted_in(
    app_of: Callable[[str], ClientApp], service: RunningService
) -> None:
    app = app_of("implicit")
    usual: dict[str, Any] = {"response_type": "id_token token", "code_challenge": None}
    usual["code_challenge_method"] = None
    hint = (await app.login(**usual)).parameters["id_token"]
    headers = {"Cookie": app.browser.cookie_header}
    urls = [urlsplit(app.url(**usual, prompt="none")) for _ in range(AT_ONCE)]
    paths = [f"{url.path}?{url.query}" for url in urls]
    paths.insert(AT_ONCE // 2, f"/connect/endsession?id_token_hint={hint}")
    answers = await asyncio.gather(*[service.get(path, headers=headers) for path in paths])
    tokens = [token for answer in answers if (token := token_in(answer)) is not None]
    assert (await app.authorize(**usual, prompt="none")).error == "login_required"
    assert [token for token in tokens if await service.is_active(token)] == []
