"""The start page shows a demonstration in development only, and no secret but those that anybody can guess."""

from __future__ import annotations

from hashlib import sha256
from http import HTTPStatus
from typing import Any

import pytest

from service.identity import passwords
from service.model.password_hash import PasswordHash
from tests.driving.browser import Browser
from tests.driving.registry import client_in
from tests.driving.service import RunningService

UNGUESSABLE = "correct horse battery staple"


async def test_a_service_with_redis_leads_to_the_account(service: RunningService) -> None:
    in_development = service.features.shared.configuration.store.url == "memory://"
    async with service.http.get(f"{service.issuer}/", allow_redirects=False) as answer:
        assert answer.headers.get("Location") == (None if in_development else "/account")


async def test_a_public_issuer_leads_to_the_account(config: dict[str, Any], start: Any) -> None:
    service = await start({**config, "issuer": "https://op.example"})
    async with service.http.get(f"{service.issuer}/", allow_redirects=False) as answer:
        assert answer.headers["Location"] == "/account"


async def test_a_client_with_a_secret_of_its_own_is_not_shown(
    config: dict[str, Any], start: Any
) -> None:
    digest = sha256(UNGUESSABLE.encode()).hexdigest()
    client_in(config, "web")["client_secrets"] = [{"sha256": digest}]
    service = await start(config)
    browser = Browser(service.issuer)
    page = await browser.get("/")
    await browser.close()
    assert "web-secret" not in page.text
    assert digest not in page.text


async def test_a_host_that_a_proxy_chose_leads_nowhere_else(
    config: dict[str, Any], start: Any
) -> None:
    service = await start({**config, "store": {"url": "memory://"}})
    port = service.issuer.rpartition(":")[2]
    for host, status in (
        (f"service:{port}", HTTPStatus.OK),
        (f"[:{port}", HTTPStatus.BAD_REQUEST),
        (f"localhost.example:{port}", HTTPStatus.OK),
    ):
        async with service.http.get(
            f"{service.issuer}/", headers={"Host": host}, allow_redirects=False
        ) as answer:
            assert answer.status == status


async def test_passwords_are_guessed_once_however_often_the_page_is_asked_for(
    config: dict[str, Any], start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[PasswordHash] = []

    def matches(_: str, stored: PasswordHash) -> bool:
        hashed.append(stored)
        return False

    monkeypatch.setattr(passwords, "matches", matches)
    service = await start({**config, "store": {"url": "memory://"}})
    for _ in range(3):
        async with service.http.get(f"{service.issuer}/") as answer:
            assert answer.status == HTTPStatus.OK
    assert hashed
    assert len(hashed) == len(set(hashed))
