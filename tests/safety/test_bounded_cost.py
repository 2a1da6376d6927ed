"""One anonymous request costs little, whatever its header fields and its path hold (RFC 9110 §5.4, §17.5)."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.driving.raw import exchange
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("9110#17.5")

CPU_SECONDS = 1
"""Ten times what the requests of one test need, and a fraction of what one costly request took."""

LONG = 60_000
WHOLE = 12_000
"""What the fast lane still reads by itself."""

AUTHORIZE = (
    "client_id=web&response_type=code&scope=openid&nonce=n"
    "&redirect_uri=https://web.example/callback"
)
ENDPOINTS = (
    "POST /connect/token",
    "POST /connect/introspect",
    "POST /connect/userinfo",
    "POST /connect/register",
    f"GET /connect/authorize?{AUTHORIZE}",
    "POST /connect/endsession",
    "GET /account/login",
    "POST /account/login",
    "GET /static/pages.css",
    "GET /health/live",
    "GET /nothing",
)
BOMBS = {  # a field, what its value begins with, what is repeated, and what it ends with
    "Content-Type, words": ("Content-Type", "x ", ".", "x"),
    "Content-Type, comments": ("Content-Type", "a ", "(", ""),
    "Content-Type, parameters": ("Content-Type", "a/b", ";a*0=b", ""),
    "Content-Type, a form": ("Content-Type", "application/x-www-form-urlencoded", ";", ""),
    "Content-Type, multipart": ("Content-Type", "multipart/form-data; boundary=", "=", ""),
    "Cookie, names": ("Cookie", "", "a;", ""),
    "Cookie, words": ("Cookie", "", "a ", ""),
    "Cookie, quotes": ("Cookie", "", 'a="\\', ""),
    "Forwarded, spaces": ("Forwarded", "", " ", "x"),
    "Forwarded, for and spaces": ("Forwarded", "for=", " ", '"'),
    "Forwarded, elements": ("Forwarded", "", "for=127.0.0.1,", "for=127.0.0.1"),
    "Forwarded, quotes": ("Forwarded", "", 'for="', ""),
    "Forwarded, backslashes": ("Forwarded", 'for="', "\\", '"'),
    "X-Forwarded-For, hops": ("X-Forwarded-For", "", "127.0.0.1,", "127.0.0.1"),
    "X-Forwarded-For, one": ("X-Forwarded-For", "[", ":", "]"),
    "Accept, types": ("Accept", "", "a/b;q=0.1,", ""),
    "Accept, spaces": ("Accept", "a/b;q=", " ", "x"),
    "Accept-Language, tags": ("Accept-Language", "", "de-", ""),
    "Accept-Language, digits": ("Accept-Language", "de;q=0.", "1", ""),
    "User-Agent": ("User-Agent", "", "Mac OS ", ""),
    "Range": ("Range", "bytes=", "1", "-"),
    "Range, many": ("Range", "bytes=", "0-,", ""),
    "If-None-Match": ("If-None-Match", "", 'W/"', ""),
    "If-Modified-Since": ("If-Modified-Since", "", "(", ""),
    "If-Modified-Since, spaces": ("If-Modified-Since", "Mon, 1", " ", "x"),
    "Authorization, Basic": ("Authorization", "Basic ", "JTQx", ""),
    "Authorization, Bearer": ("Authorization", "Bearer ", "e30.", ""),
    "Origin": ("Origin", "http://[", ":", "]"),
    "Expect": ("Expect", "", "100-continue;", ""),
    "Connection": ("Connection", "", "close,", "close"),
    "X-Request-ID": ("X-Request-ID", "", "a.", ""),
}
TARGETS = {
    "slashes": "/" * LONG,
    "segments": "/a" * (LONG // 2),
    "escapes": "/static" + "/%2F" * (LONG // 4),
    "dots": "/static/" + ".aaaaaaaaaaaa" * (LONG // 13),
    "host": "http://xn--" + "a" * LONG + "/",
    "hosts": "http://" + "xn--a." * (LONG // 6) + "/",
    "port": "http://a:" + "1" * LONG + "/",
    "query": "/connect/authorize?" + "a=" * (LONG // 2),
    "parameters": "/account/login?" + "a&" * (LONG // 2),
    "escaped parameters": "/nothing?" + "%61&" * (LONG // 4),
}


@pytest.fixture
def config() -> dict[str, Any]:
    """A service that reads all it can: it trusts the caller as a proxy, and registers clients."""
    return fresh_configuration() | {
        "server": {"trusted_proxies": ["127.0.0.0/8"]},
        "registration": {"enabled": True},
    }


@pytest.mark.parametrize("length", [WHOLE, LONG])
@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
async def test_a_header_field_costs_little(
    service: RunningService, bomb: tuple[str, str, str, str], length: int
) -> None:
    name, begin, unit, end = bomb
    field = f"{name}: {begin}{unit * (length // len(unit))}{end}"
    for page in ("GET /account/login", "GET /nothing"):
        await _answer(service, page)  # compiles it, which takes as long as all requests below
    with cpu_limited():
        for endpoint in ENDPOINTS * 2:
            assert 200 <= status_of(await _answer(service, endpoint, field)) < 500, endpoint


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
async def test_a_request_target_costs_little(service: RunningService, target: str) -> None:
    with cpu_limited():
        for _ in range(10):
            assert 200 <= status_of(await _answer(service, f"GET {target}")) < 500


UNITS = st.text(st.characters(codec="latin-1", exclude_characters="\0\r\n\x7f"), max_size=4)


@settings(max_examples=60)
@given(
    name=st.sampled_from(sorted({name for name, *_ in BOMBS.values()} - {"Connection"})),
    endpoint=st.sampled_from(ENDPOINTS),
    parts=st.tuples(UNITS, UNITS.filter(bool), UNITS),
)
async def test_whatever_is_repeated_costs_little(
    service: RunningService, name: str, endpoint: str, parts: tuple[str, str, str]
) -> None:
    begin, unit, end = parts
    value = begin + unit * (LONG // len(unit)) + end
    with cpu_limited():
        answer = await _answer(service, endpoint, f"{name}: {value}")
        assert 200 <= status_of(answer) < 500


def status_of(answer: bytes) -> int:
    return int(answer.split()[1])


async def _answer(service: RunningService, request: str, *fields: str) -> bytes:
    """Return the answer to one request on a new connection."""
    method, _, target = request.partition(" ")
    lines = [f"{method} {target} HTTP/1.1", "Host: x", *fields]
    if not any(field.startswith("Connection:") for field in fields):
        lines.append("Connection: close")
    if method == "POST":
        lines.append("Content-Length: 3")
        if not any(field.startswith("Content-Type:") for field in fields):
            lines.append("Content-Type: application/x-www-form-urlencoded")
    head = "\r\n".join(lines) + "\r\n\r\n"
    body = "a=b" if method == "POST" else ""
    return await exchange(urlsplit(service.issuer).port, (head + body).encode("latin-1"))


@contextmanager
def cpu_limited() -> Iterator[None]:
    """Fail once this process has computed for longer; waiting, and other processes, do not count."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"more than {CPU_SECONDS} s of computing")

    gc.disable()  # going through all that tests have left may take seconds
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS, 0.1)  # again, where the first is swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        gc.enable()
