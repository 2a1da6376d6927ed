"""A request line and headers of more than 64 KiB, and bytes other than HTTP, get a plain 4xx without an echo."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

import pytest

from service.web import parameters
from tests.driving.service import RunningService

SECRET = b"a-secret-that-is-not-to-be-repeated"
HEAD = (
    b"POST /connect/token HTTP/1.1\r\nHost: x\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n"
)


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nAuthorization %s\r\n\r\n" % SECRET,
        b"GET / HTTP/9.9.9 %s\r\n\r\n" % SECRET,
        b"GET /%s\x00 HTTP/1.1\r\n\r\n" % SECRET,
        b"GET /%s\xc3\xa9 HTTP/1.1\r\n\r\n" % SECRET,
        b"GET /connect/authorize?state=%s\xc3\xa9 HTTP/1.1\r\n\r\n" % SECRET,
        b"%s\r\n\r\n" % SECRET,
        b"\x16\x03\x01\x02\x00" + SECRET,
        b"GET / HTTP/1.1\r\nAuthorization: Bearer %s\r\n\r\n" % (SECRET * 2000),
        b"GET /?%s HTTP/1.1\r\n\r\n" % (SECRET * 2000),
        b"GET / HTTP/1.1\r\n" + b"X: %s\r\n" % SECRET * 1900 + b"\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: %s\r\n" % (SECRET * 1000) * 2 + b"\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: %s\r\n\r\n" % SECRET,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n" % SECRET,
    ],
    ids=lambda sent: repr(sent[:24]),
)
async def test_nothing_is_echoed(
    service: RunningService, sent: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = await _exchange(service, sent)
    assert answer.split()[1].startswith(b"4")
    assert b"x-request-id: " in answer.lower()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower()
    assert json.loads(body)["error"] == "invalid_request"
    assert SECRET not in answer
    assert SECRET.decode() not in capfd.readouterr().err


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
        b"Content-Length: 5\r\n\r\na=%ff",
        b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n",
        b"Expect: nonsense\r\nContent-Length: 0\r\n\r\n",
    ],
    ids=["compressed", "not UTF-8", "two lengths", "bad chunk", "expectation"],
)
async def test_a_malformed_body_is_the_caller_s_mistake(
    service: RunningService, body: bytes
) -> None:
    answer = await _exchange(service, HEAD + body)
    assert answer.split()[1].startswith(b"4")
    assert b"nonsense" not in answer


async def test_a_body_that_turns_bad_on_its_way_is_the_caller_s_mistake(
    service: RunningService,
) -> None:
    answer = await _exchange(service, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"zz\r\n")
    assert answer.split()[1] == b"400"


@pytest.mark.rfc("9110#15.5.9")
@pytest.mark.parametrize("path", [b"/connect/token", b"/account/login"])
async def test_a_body_that_does_not_come_is_not_waited_for(
    service: RunningService, monkeypatch: pytest.MonkeyPatch, path: bytes
) -> None:
    monkeypatch.setattr(parameters, "BODY_SECONDS", 0.05)
    head = HEAD.replace(b"/connect/token", path) + b"Content-Length: 9\r\n\r\na=b"
    answer = await _exchange(service, head)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nConnection: close\r\n" in answer


@pytest.mark.rfc("9112#6.1")
async def test_a_transfer_coding_that_is_not_understood_is_refused(service: RunningService) -> None:
    coded = b"Transfer-Encoding: gzip, chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n"
    answer = await _exchange(service, HEAD + coded)
    assert answer.startswith(b"HTTP/1.1 501 ")
    assert b"Connection: close" in answer


@pytest.mark.rfc("9112#6.1")
async def test_chunks_in_an_old_version_are_refused(service: RunningService) -> None:
    chunked = b"Transfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n"
    answer = await _exchange(service, HEAD.replace(b"HTTP/1.1", b"HTTP/1.0") + chunked)
    assert answer.split()[1] == b"400"


@pytest.mark.rfc("9110#10.1.1")
@pytest.mark.parametrize("path", [b"/connect/token", b"/account/login", b"/nothing"])
@pytest.mark.parametrize(
    "expect", [b"nonsense", b"\xff\xfe", "\u2028".encode(), b"100-continue, \xe9"]
)
async def test_an_unknown_expectation_is_refused(
    service: RunningService, path: bytes, expect: bytes
) -> None:
    answer = await _exchange(
        service, b"GET %s HTTP/1.1\r\nHost: x\r\nExpect: %s\r\n\r\n" % (path, expect)
    )
    assert answer.split()[1] == b"417"
    assert expect not in answer


@pytest.mark.rfc("9110#2.5", "9110#15.6.6")
@pytest.mark.parametrize("path", [b"/connect/token", b"/.well-known/jwks.json", b"/account/login"])
@pytest.mark.parametrize("version", [b"0.9", b"2.0", b"3.7", b"1.2", b"1.10"])
async def test_no_answer_names_a_version_that_is_not_served(
    service: RunningService, path: bytes, version: bytes
) -> None:
    answer = await _exchange(service, b"GET %s HTTP/%s\r\nHost: x\r\n\r\n" % (path, version))
    protocol, status, *_ = answer.split()
    assert protocol in {b"HTTP/1.0", b"HTTP/1.1"}
    assert status in {b"505", b"400"}


async def test_the_preface_of_http_2_is_refused(service: RunningService) -> None:
    answer = await _exchange(service, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    assert answer.split()[0] in {b"HTTP/1.0", b"HTTP/1.1"}
    assert answer.split()[1].startswith((b"4", b"505"))


async def test_http_1_0_is_served(service: RunningService) -> None:
    answer = await _exchange(service, b"GET /.well-known/jwks.json HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.0 200 ")


@pytest.mark.rfc("9112#3.2")
@pytest.mark.parametrize(
    ("target", "status"),
    [
        (b"http://x/health/live", b"200"),
        (b"http://xn--a/health/live", b"200"),
        (b"http://\xc3\xa9/health/live", b"400"),
        (b"/" + b"a" * 2047, b"404"),
        (b"/static/" + b"a" * 2041, b"404"),
        (b"/health/live?" + b"a" * 60_000, b"200"),
    ],
    ids=lambda value: repr(value[:24]),
)
async def test_every_form_of_target_is_answered(
    service: RunningService, target: bytes, status: bytes
) -> None:
    answer = await _exchange(service, b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % target)
    assert answer.split()[1] == status


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/x-www-form-urlencoded; charset=UTF-8", 401),
        ("Application/X-WWW-Form-URLencoded ;charset=UTF-8", 401),
        ("application/x-www-form-urlencoded;" + "x" * 222, 401),
        ("application/x-www-form-urlencoded;" + "x" * 223, 415),
        ("text/plain", 415),
    ],
)
async def test_a_content_type_has_at_most_256_characters(
    service: RunningService, content_type: str, status: int
) -> None:
    headers = {"Content-Type": content_type}
    answer = await service.post("/connect/token", headers=headers, raw="a=b")
    assert answer.status == status


async def test_caller_that_disconnects_causes_no_error(
    service: RunningService, capfd: pytest.CaptureFixture[str]
) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", urlsplit(service.issuer).port)
    writer.write(HEAD + b"Content-Length: 30\r\n\r\na=b")
    await asyncio.sleep(0.1)
    writer.close()
    await asyncio.sleep(0.1)
    assert "Traceback" not in "".join(capfd.readouterr())


async def test_headers_of_sixty_kibibytes_are_fine(service: RunningService) -> None:
    answer = await service.get("/health/live", headers={"Authorization": 60_000 * "a"})
    assert answer.status == 200


async def _exchange(service: RunningService, *sent: bytes) -> bytes:
    address = urlsplit(service.issuer)
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    for part in sent:
        writer.write(part)
        await asyncio.sleep(0.02 * (len(sent) - 1))  # so that each is a packet
    answer = await asyncio.wait_for(reader.read(65536), 10)
    writer.close()
    return answer
