"""A control character anywhere in a request gets an answer, and the caller's own bytes are in none (RFC 9110 §5.5, RFC 9112 §3)."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from tests.driving.service import RunningService

pytestmark = pytest.mark.usefixtures("one_store")  # nothing is stored

PATHS = [
    "/connect/check/api1",
    "/connect/userinfo",
    "/connect/authorize",
    "/.well-known/jwks.json",
    "/health/live",
    "/account/login",
    "/no-such-page",
]
CHARACTERS = [b"\x00", b"\x01", b"\x0b", b"\x1b", b"\x7f", b"\r", b"\xff"]
ENCODED = ["%00", "%01", "%0A", "%0D%0AX-Own: 1", "%1B", "%7F", "%FF", "%C2%9B"]


@pytest.mark.parametrize("character", CHARACTERS, ids=ascii)
@pytest.mark.parametrize("path", PATHS)
async def test_raw_control_character_gets_an_answer(
    service: RunningService, path: str, character: bytes
) -> None:
    target, host = path.encode(), b"\r\nHost: x\r\n"
    end = b"Connection: close\r\n\r\n"
    for asked in (
        b"GET " + target + b"?scope=" + character + b" HTTP/1.1" + host + end,
        b"GET " + target + b"/" + character + b" HTTP/1.1" + host + end,
        b"GET " + target + b" HTTP/1.1" + host + b"X-Own: a" + character + b"b\r\n" + end,
        b"GET " + target + b" HTTP/1.1" + host + b"X" + character + b"Own: a\r\n" + end,
        b"GET "
        + target
        + b" HTTP/1.1"
        + host
        + b"Authorization: Bearer "
        + character
        + b"\r\n"
        + end,
    ):
        answer = await _ask(service, asked)
        assert answer.startswith(b"HTTP/1."), asked
        assert answer[9:10] != b"5", asked
        assert b"X-Own" not in answer


@pytest.mark.parametrize("text", ENCODED)
@pytest.mark.parametrize("path", PATHS)
async def test_encoded_control_character_gets_an_answer(
    service: RunningService, path: str, text: str
) -> None:
    encoded = text.replace(" ", "%20")
    for name in ("scope", "acr", "state", "request", "error", "ui_locales"):
        asked = f"GET {path}?{name}={encoded} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        answer = await _ask(service, asked.encode())
        assert answer.startswith(b"HTTP/1."), asked
        assert answer[9:12] != b"500", asked
        assert b"\r\nX-Own" not in answer


async def _ask(service: RunningService, asked: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(service.issuer).port)
    writer.write(asked)
    answer = await asyncio.wait_for(reader.read(), 30)
    writer.close()
    return answer
