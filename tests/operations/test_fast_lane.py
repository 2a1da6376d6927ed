"""However the bytes of a request arrive, the answer is the same (RFC 9112 §2.2, §9.3)."""

from __future__ import annotations

import asyncio
import re
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from typing import Any, Never
from urllib.parse import urlsplit

import pytest
from prometheus_client import CollectorRegistry

from service.observe.readings import ConnectionMetrics
from service.web.endpoint import Answer, Direct, DirectRoutes, Fields, empty_answer
from service.web.proxy import Mount
from service.web.server.connections import Connections
from service.web.server.fast_lane import Lane, LaneConnection
from service.web.server.whole_requests import LARGEST
from tests.driving.raw import exchange
from tests.driving.service import RunningService

Start = Callable[..., Awaitable[RunningService]]

FORM = b"grant_type=client_credentials&scope=api1"
FIELDS = (
    b"Host: x\r\nAuthorization: Basic cm9ib3Q6cm9ib3Qtc2VjcmV0\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n"
)
LENGTH = b"Content-Length: %d\r\n" % len(FORM)
WHOLE = b"POST /connect/token HTTP/1.1\r\n" + FIELDS + LENGTH + b"\r\n" + FORM
LAST = WHOLE.replace(b"Host: x", b"Host: x\r\nConnection: close")
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(FORM), FORM)


@pytest.mark.parametrize(
    "pieces",
    [
        [LAST],
        [LAST[:10], LAST[10:]],
        [LAST[: LAST.index(b"\r\n\r\n") + 4], FORM],
        [WHOLE, LAST],
        [WHOLE + LAST],
        [WHOLE + LAST[:30], LAST[30:]],
        [WHOLE + LAST[:4], LAST[4:]],
        [WHOLE.replace(b"/connect/token", b"/connect/token?x=y") + LAST[:50], LAST[50:]],
        [LAST.replace(b"/connect/token", b"/connect/token?x=y")],
        [LAST.replace(b"HTTP/1.1", b"HTTP/1.0")],
        [WHOLE.replace(b"Host: x", b"HOST: x\r\nconnection: Keep-Alive"), LAST],
        [LAST.replace(LENGTH, b"Expect: 100-continue\r\n" + LENGTH)],
        [LAST.replace(LENGTH, b"X: %s\r\n%s" % (b"x" * LARGEST, LENGTH))],
        [LAST.partition(LENGTH)[0] + CHUNKED],
        [WHOLE, b"GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n\r\n" + LAST],
        [b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", LAST],
    ],
    ids=[
        "whole",
        "two pieces",
        "head and body",
        "one after the other",
        "two at once",
        "one and a half at once",
        "one and a word at once",
        "one with a query and a half at once",
        "with a query",
        "HTTP/1.0",
        "another case",
        "with an expectation",
        "large",
        "chunked",
        "three",
        "after another path",
    ],
)
async def test_the_last_answer_holds_a_token(service: RunningService, pieces: list[bytes]) -> None:
    answers = await _exchange(service, pieces)
    head, _, body = answers[answers.rindex(b"HTTP/1.") :].partition(b"\r\n\r\n")
    assert head.split()[1] == b"200"
    assert b'"access_token"' in body


@pytest.mark.rfc("9110#10.1.1")
async def test_body_with_expect_100_continue_is_invited(service: RunningService) -> None:
    address = urlsplit(service.issuer)
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    head = LAST.removesuffix(FORM).replace(LENGTH, b"Expect: 100-continue\r\n" + LENGTH)
    writer.write(head)
    said = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    assert said == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(FORM)
    answer = await asyncio.wait_for(reader.read(), 10)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b'"access_token"' in answer
    writer.close()


@pytest.mark.parametrize(
    "pieces",
    [
        [WHOLE],
        [WHOLE, WHOLE],
        [WHOLE[:10], WHOLE[10:]],
        [WHOLE[:10], WHOLE[10:], WHOLE],
        [WHOLE[:-5], WHOLE[-5:]],
        [WHOLE * 5],
    ],
    ids=["whole", "one after the other", "two pieces", "then whole", "end of the body", "five"],
)
async def test_a_client_that_sends_no_more_still_gets_its_answer(
    service: RunningService, pieces: list[bytes]
) -> None:
    """It may end its side of the connection behind its last request (RFC 9112 §9.6)."""
    answers = await exchange(urlsplit(service.issuer).port, *pieces, ends=True)
    asked = b"".join(pieces).count(b"POST ")
    assert answers.count(b"HTTP/1.1 200 OK") == answers.count(b'"access_token"') == asked


@pytest.mark.parametrize("sent", [b"", WHOLE[:10], WHOLE[:-5]], ids=["nothing", "head", "body"])
async def test_a_client_that_ends_within_a_request_is_let_go(
    service: RunningService, sent: bytes
) -> None:
    answer = await exchange(urlsplit(service.issuer).port, sent, ends=True)
    assert b" 200 " not in answer


async def test_answers_come_in_the_order_of_the_requests(service: RunningService) -> None:
    named = [WHOLE.replace(b"Host", b"X-Request-ID: %d\r\nHost" % each) for each in range(20)]
    answers = await _exchange(service, [b"".join(named), LAST])
    ids = [answers.index(b"X-Request-ID: %d\r\n" % each) for each in range(20)]
    assert ids == sorted(ids)


@pytest.mark.parametrize(
    "head",
    [
        b"Host: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Host: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"Host: x\r\nContent-Length: +3\r\n\r\nabc",
        b"Host: x\r\nContent-Length : 3\r\n\r\nabc",
        b"Host: x\r\n Folded: 3\r\n\r\n",
        b"Host: x\r\nHost: y\r\nContent-Length: 3\r\n\r\nabc",
        b"Host: x y\r\nContent-Length: 3\r\n\r\nabc",
        b"Host: x/y\r\nContent-Length: 3\r\n\r\nabc",
        b"Host: a@x\r\nContent-Length: 3\r\n\r\nabc",
        b"Host: \xc3\xa9\r\nContent-Length: 3\r\n\r\nabc",
        b"Host: x\r\nContent-Type: a/b\r\ncontent-type: c/d\r\nContent-Length: 3\r\n\r\nabc",
    ],
    ids=[
        "length and chunks",
        "two lengths",
        "signed length",
        "space before colon",
        "folded",
        "two hosts",
        "host with a space",
        "host with a path",
        "host with a user",
        "host with another letter",
        "two types",
    ],
)
@pytest.mark.rfc("9112#6.3")
async def test_request_that_proxies_read_differently_is_refused(
    service: RunningService, head: bytes
) -> None:
    answer = await _exchange(service, [b"POST /connect/token HTTP/1.1\r\n" + head])
    assert answer.split()[1] == b"400"
    assert answer.count(b"HTTP/1.") == 1


@pytest.mark.parametrize("host", [b"", b"x:", b"x_y.example:80", b"[::1]:8080", b"10.0.0.1"])
@pytest.mark.rfc("9110#7.2")
async def test_every_host_is_served(service: RunningService, host: bytes) -> None:
    answer = await _exchange(service, [LAST.replace(b"Host: x", b"Host: " + host)])
    assert answer.split()[1] == b"200"


BROWSER = b"Host: x\r\nX-Request-ID: one\r\nAccept: text/html\r\n"
FORM_FIELDS = BROWSER + b"Content-Type: application/x-www-form-urlencoded\r\n"
AUTHORIZE = (
    b"response_type=code&client_id=web&redirect_uri=https%3A%2F%2Fweb.example%2Fcallback"
    b"&scope=openid&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    b"&code_challenge_method=S256&state=s"
)
RANDOM = re.compile(rb"[\w-]{16,}={0,2}|<time[^>]*>[^<]*|[\d-]+T[\d:]+")


def _get(target: bytes, fields: bytes = BROWSER) -> bytes:
    return b"GET %s HTTP/1.1\r\n%s\r\n" % (target, fields)


def _post(target: bytes, body: bytes, fields: bytes = FORM_FIELDS) -> bytes:
    length = b"Content-Length: %d\r\n" % len(body)
    return b"POST %s HTTP/1.1\r\n%s%s\r\n%s" % (target, fields, length, body)


@pytest.mark.parametrize(
    "request_bytes",
    [
        _get(b"/connect/authorize?" + AUTHORIZE),
        _get(b"/connect/authorize?" + AUTHORIZE + b"&language=de"),
        _get(b"/connect/authorize?" + AUTHORIZE + b"&response_mode=form_post&prompt=none"),
        _get(b"/connect/authorize?" + AUTHORIZE + b"&state=twice"),
        _get(b"/connect/authorize?client_id=nobody"),
        _get(b"/connect/authorize?client_id=%ff"),
        _get(b"/connect/authorize?client_id=\xc3\xa4"),
        _get(b"/connect/authorize?client_id=nobody#fragment"),
        _get(b"/connect/authorize?" + b"x=y&" * 300),
        _get(b"/connect/authorize/"),
        _get(b"/connect%2Fauthorize"),
        _get(b"/%63onnect/authorize?client_id=nobody"),
        _post(b"/connect/authorize", AUTHORIZE),
        _post(b"/connect/authorize", b"{}", BROWSER + b"Content-Type: application/json\r\n"),
        _post(b"/connect/authorize", b"", BROWSER),
        b"PUT" + _post(b"/connect/authorize", b"x").removeprefix(b"POST"),
        b"HEAD" + _get(b"/account/login").removeprefix(b"GET"),
        _get(b"/account/login?language=de"),
        _get(b"/account/login", BROWSER + b"Cookie: language_1=x; browser; =; a=b=c\r\n"),
        _get(b"/account/login?request=unknown"),
        _post(b"/account/login", b"username=alice&password=x&csrf=x"),
        _get(b"/account/consent"),
        _get(b"/account/error"),
        _get(b"/account/security/add?method=otp"),
        _get(b"/account/requests/AAAAAAAAAAAAAAAA"),
        _get(b"/account/requests/a/b"),
        _get(b"/account/requests/%7Ba%7D"),
        _get(b"/account"),
        _get(b"/"),
        _get(b"/device"),
        _get(b"/connect/endsession"),
        _get(b"/connect/checksession"),
        _get(b"/connect/idp/nobody/callback?state=x"),
        _get(b"/account/provider/callback?state=x"),
        _get(b"/connect/register/c1"),
    ],
    ids=lambda sent: sent.partition(b" HTTP")[0].decode("latin-1")[:60],
)
async def test_browser_gets_one_answer_however_its_request_arrives(
    service: RunningService, request_bytes: bytes
) -> None:
    whole = await _read_one(service, [request_bytes])
    parts = await _read_one(service, [request_bytes[:10], request_bytes[10:]])
    assert _without_random(whole) == _without_random(parts)


@pytest.mark.parametrize(
    "path",
    [
        *(b"/connect/authorize", b"/account/login", b"/account/consent", b"/account", b"/device"),
        *(b"/connect/endsession", b"/account/logout", b"/account/requests/AAAAAAAAAAAAAAAA"),
    ],
)
async def test_page_and_form_are_served_without_aiohttp(
    service: RunningService, monkeypatch: pytest.MonkeyPatch, path: bytes
) -> None:
    monkeypatch.setattr(LaneConnection, "_hand_over", _never)
    assert (await _read_one(service, [_get(path)])).startswith(b"HTTP/1.1 ")
    assert (await _read_one(service, [_post(path, b"a=b")])).startswith(b"HTTP/1.1 ")


async def _send(service: RunningService, pieces: list[bytes]) -> tuple[StreamReader, StreamWriter]:
    """Open a connection and send the pieces, each by itself."""
    address = urlsplit(service.issuer)
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.02)
    return reader, writer


async def _read_one(service: RunningService, pieces: list[bytes]) -> bytes:
    """Return the answer to one request, on a connection that stays open."""
    reader, writer = await _send(service, pieces)
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), timeout=30)
    length = re.search(rb"Content-Length: (\d+)", head)
    is_head = pieces[0].startswith(b"HEAD")
    body = await reader.readexactly(int(length[1])) if length and not is_head else b""
    writer.close()
    return head + body


def _without_random(answer: bytes) -> tuple[list[list[bytes]], bytes]:
    """Return the fields in alphabetical order, and the body; what differs from request to request is starred."""
    head, _, body = answer.partition(b"\r\n\r\n")
    fields = [line.split(b": ", 1) for line in head.split(b"\r\n")]
    shown = [[*name, RANDOM.sub(b"*", value)] for *name, value in fields if name != [b"Date"]]
    return sorted(shown), RANDOM.sub(b"*", body)


async def test_lower_body_limit_holds_in_the_fast_lane(
    start: Start, config: dict[str, Any]
) -> None:
    service = await start(config | {"server": {"max_body_bytes": 1024}})
    answer = await service.token("robot", grant_type="client_credentials", padding="x" * 1100)
    assert answer.refusal == (413, "invalid_request")


async def test_a_connection_that_stays_silent_is_closed() -> None:
    lane = Lane(
        served=DirectRoutes(()),
        mount=Mount((), ()),
        answer=_never,
        always=b"",
        otherwise=asyncio.Protocol,
        idle_seconds=0.05,
        accepted=_connections(),
    )
    server = await asyncio.get_running_loop().create_server(lane.connection, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    assert await asyncio.wait_for(reader.read(), timeout=10) == b""
    writer.close()
    server.close()
    lane.begin_to_close()


async def test_client_that_does_not_read_answers_is_not_read_from() -> None:
    asked, answered, handed_over = asyncio.Semaphore(0), list[bool](), asyncio.Event()

    async def large(*_: object) -> Answer:
        await asked.acquire()
        answered.append(True)
        return Answer(Fields({}), b"x" * 2**20)

    def otherwise() -> asyncio.Protocol:
        handed_over.set()
        return asyncio.Protocol()

    lane = Lane(
        served=DirectRoutes([Direct("GET", "/", large)]),
        mount=Mount((), ()),
        answer=large,
        always=b"",
        otherwise=otherwise,
        idle_seconds=60,
        accepted=_connections(),
    )
    server = await asyncio.get_running_loop().create_server(lane.connection, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    for number in range(60):
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.sleep(0.01)  # so that it comes while the one before is answered
        if number:
            asked.release()
    assert len(answered) < 30  # what the buffers on the way hold
    assert not handed_over.is_set()
    await reader.readexactly(len(answered) * 2**20)
    await asyncio.wait_for(handed_over.wait(), timeout=10)  # all that has come meanwhile, at once
    writer.close()
    server.close()
    lane.begin_to_close()


class _Transport(asyncio.Transport):
    """Notes what a connection does with it."""

    def __init__(self, happened: list[str]) -> None:
        super().__init__()
        self._happened = happened
        self.written = b""

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Take them, as every real one does."""

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        self.written += data
        head, _, body = bytes(data).decode().rpartition("\r\n")
        self._happened.append(body or head.split()[1])

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        self._happened.append("closed")

    def abort(self) -> None:
        self._happened.append("cut off")

    def is_closing(self) -> bool:
        return False


def _at_once(happened: list[str], *headers: dict[str, str]) -> Lane:
    """A lane whose answers wait for nothing; the first ones have these headers."""
    left = iter(headers)

    def answer(*_: object) -> Answer:
        happened.append("made")
        return Answer(Fields({}), b"sent", headers=next(left, {}))

    return Lane(
        served=DirectRoutes([Direct("GET", "/", _never)]),
        mount=Mount((), ()),
        answer=answer,
        always=b"",
        otherwise=asyncio.Protocol,
        idle_seconds=60,
        accepted=_connections(),
    )


def _ask(lane: Lane, happened: list[str]) -> _Transport:
    """Ask on a connection of its own."""
    connection, transport = lane.connection(), _Transport(happened)
    connection.connection_made(transport)
    connection.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    return transport


@pytest.mark.rfc("9110#8.6")
@pytest.mark.parametrize(("status", "has_length"), [(200, True), (204, False), (303, True)])
async def test_only_an_answer_of_no_content_says_no_length(status: int, has_length: bool) -> None:
    lane = _at_once([])
    lane.answer = lambda *_: empty_answer(status)
    transport = _ask(lane, [])
    await asyncio.sleep(0)
    assert (b"\r\nContent-Length: 0\r\n" in transport.written) is has_length
    assert transport.written.endswith(b"\r\n\r\n")
    lane.begin_to_close()


async def test_answers_of_a_turn_are_sent_together() -> None:
    happened: list[str] = []
    lane = _at_once(happened)
    _ask(lane, happened)
    _ask(lane, happened)
    assert happened == ["made", "made"]
    await asyncio.sleep(0)
    assert happened == ["made", "made", "sent", "sent"]
    lane.begin_to_close()


async def test_an_answer_that_cannot_be_sent_ends_its_connection_alone() -> None:
    happened: list[str] = []
    lane = _at_once(happened, {"X": "a\r\nb"})
    _ask(lane, happened)
    _ask(lane, happened)
    await asyncio.sleep(0)
    assert happened == ["made", "made", "500", "closed", "sent"]
    lane.begin_to_close()


async def test_an_answer_that_is_ready_when_the_server_ends_is_sent() -> None:
    happened: list[str] = []
    lane = _at_once(happened)
    _ask(lane, happened)
    lane.begin_to_close()
    await lane.close(timeout=1)
    assert happened[:3] == ["made", "sent", "closed"]


async def _hang(*_: object) -> Never:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.rfc("9110#15.6.4")
async def test_request_that_is_cut_off_when_the_server_ends_gets_an_answer() -> None:
    happened: list[str] = []
    lane = _at_once(happened)
    lane.answer = _hang
    _ask(lane, happened)
    lane.begin_to_close()
    (hanging,) = (each.answering for each in lane.connections)
    await lane.close(timeout=0.01)
    assert happened == ["503", "closed"]
    assert hanging is not None
    hanging.cancel()


@pytest.mark.rfc("9110#15.6.4")
async def test_request_whose_handler_is_cancelled_gets_an_answer() -> None:
    happened: list[str] = []
    lane = _at_once(happened)
    lane.answer = _hang
    _ask(lane, happened)
    await asyncio.sleep(0)
    (hanging,) = (each.answering for each in lane.connections)
    assert hanging is not None
    hanging.cancel()
    await asyncio.wait([hanging])
    assert happened == ["503", "closed"]
    await asyncio.wait_for(lane.wait_until_quiet(), 1)
    lane.begin_to_close()


def _connections() -> Connections:
    return Connections(ConnectionMetrics(CollectorRegistry()), files_reserved=0)


async def _never(*_: object) -> Never:
    raise AssertionError


async def _exchange(service: RunningService, pieces: list[bytes]) -> bytes:
    """Everything that comes back until the service closes the connection, or falls silent."""
    reader, writer = await _send(service, pieces)
    answer = await asyncio.wait_for(reader.read(), timeout=30)
    writer.close()
    return answer
