"""Registration needs an initial access token, or is open to everybody within a limit (RFC 7591 §1.2, §3)."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import Any

import pytest

from service.endpoints.register import OPEN_PER_MINUTE
from tests.conftest import Clock
from tests.driving.registering import register
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("7591#3.1")


class TestClosed:
    """Two tokens open it."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        hashes = [sha256(token.encode()).hexdigest() for token in ("first", "second")]
        config["registration"]["initial_access_token_sha256"] = hashes
        return config

    @pytest.mark.parametrize("token", ["first", "second"])
    async def test_each_initial_access_token_may_be_used_repeatedly(
        self, service: RunningService, token: str
    ) -> None:
        assert (await register(service, token=token)).status == 201
        assert (await register(service, token=token)).status == 201

    @pytest.mark.rfc("6750#3.1")
    async def test_registration_without_a_token_is_refused(self, service: RunningService) -> None:
        answer = await register(service)
        assert answer.refusal == (401, "invalid_token")
        assert answer.headers["WWW-Authenticate"] == f'Bearer realm="{service.issuer}"'

    @pytest.mark.rfc("6750#3.1")
    @pytest.mark.parametrize("token", ["third", "first ", "FIRST", "ä"])
    async def test_another_token_does_not_allow_registration(
        self, service: RunningService, token: str
    ) -> None:
        answer = await register(service, token=f"{token}x")
        assert answer.refusal == (401, "invalid_token")
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]

    @pytest.mark.rfc("6750#3.1")
    async def test_a_token_that_is_not_text_does_not_allow_registration(
        self, service: RunningService
    ) -> None:
        port = int(service.issuer.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            b"POST /connect/register HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            b"Authorization: Bearer \xff\r\nContent-Length: 0\r\n\r\n"
        )
        answer = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        assert answer.split()[1] == b"401"
        assert b'error="invalid_token"' in answer

    async def test_the_token_is_checked_before_the_body(self, service: RunningService) -> None:
        answer = await service.request("POST", "/connect/register", data=b"{")
        assert answer.refusal == (401, "invalid_token")

    async def test_a_token_in_the_query_is_ignored(self, service: RunningService) -> None:
        path = "/connect/register?access_token=first"
        answer = await service.request("POST", path, json={"redirect_uris": ["https://a.example"]})
        assert answer.refusal == (401, "invalid_token")

    async def test_an_initial_access_token_does_not_manage_clients(
        self, service: RunningService
    ) -> None:
        told = await register(service, token="first")
        path = f"/connect/register/{told['client_id']}"
        answer = await service.get(path, headers={"Authorization": "Bearer first"})
        assert answer.refusal == (401, "invalid_token")


@pytest.mark.rfc("6585#4")
@pytest.mark.usefixtures("fresh_minute")
async def test_open_registrations_of_one_address_are_limited(
    service: RunningService, clock: Clock
) -> None:
    for _ in range(OPEN_PER_MINUTE):
        assert (await register(service, redirect_uris=None)).status == 400
    answer = await register(service)
    assert answer.refusal == (429, "temporarily_unavailable")
    clock.forward(seconds=int(answer.headers["Retry-After"]))
    assert (await register(service)).status == 201
