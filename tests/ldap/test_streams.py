"""A connection to a directory ends when it should, whatever the directory does (RFC 4511 §4.14, §5)."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from service.config.convert import convert
from service.config.schema.ldap import Ldap
from service.identity.sources.ldap import streams as lines
from service.identity.sources.ldap.connections import Connections, Search
from service.model.user import UsersUnavailable
from tests.driving.certificate import certified
from tests.driving.program import eventually
from tests.driving.slapd import PEOPLE, Slapd
from tests.ldap.people import EVERYBODY

pytestmark = pytest.mark.rfc("4511#4.14")

ALICE = Search(base=PEOPLE, filter="(uid=alice)", attributes=("uid",), most=2)
SUCCESS = bytes.fromhex("300c02010178070a010004000400")
"""The extended response to StartTLS, as message 1."""

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def connections(settings: dict[str, Any], *, timeout: float = 60) -> Connections:
    return Connections(convert(settings, Ldap), timeout=timeout, at_once=1)


@asynccontextmanager
async def directory_that(talks: Talk, folder: Path) -> AsyncIterator[dict[str, Any]]:
    """The settings for a server that is not a directory, and speaks without TLS."""

    served = asyncio.Queue[None]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await talks(reader, writer)
            writer.close()
            await writer.wait_closed()
        served.put_nowait(None)

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield {
            "urls": [f"ldap://127.0.0.1:{port}"],
            "base": PEOPLE,
            "ca_file": str(certified(folder)),
        }
        await served.get()


def busy_threads() -> int:
    """Threads that are in a call of libldap, or wait for work."""
    return sum(thread.name.startswith("ldap") for thread in threading.enumerate())


@pytest.mark.parametrize("scheme", ["ldap", "ldaps"])
@pytest.mark.parametrize("connected", [True, False], ids=["connected", "not connected"])
async def test_call_of_a_frozen_directory_ends_with_its_request(
    tmp_path: Path, scheme: str, connected: bool
) -> None:
    """libldap would ask for its TLS handshake again and again, and wait for its answer beyond any time-out of asyncio."""
    with Slapd(tmp_path / "slapd", EVERYBODY) as slapd:
        url = {"ldap": slapd.url, "ldaps": slapd.tls_url}[scheme]
        asked = connections(slapd.settings | {"urls": [url]})
        if connected:
            assert len(await asked.search(ALICE)) == 1
        slapd.freeze()
        question = asyncio.ensure_future(asked.search(ALICE))
        done, _ = await asyncio.wait([question], timeout=0.3)
        assert not done
        question.cancel()
        await asyncio.wait([question])
        await asked.close()
        await asyncio.to_thread(eventually, lambda: not busy_threads())


async def test_server_that_does_not_answer_gets_its_share_of_the_time(tmp_path: Path) -> None:
    with Slapd(tmp_path / "slapd", EVERYBODY) as frozen, Slapd(tmp_path / "b", EVERYBODY) as slapd:
        frozen.freeze()
        asked = connections(slapd.settings | {"urls": [frozen.tls_url, slapd.tls_url]}, timeout=2)
        assert len(await asked.search(ALICE)) == 1
        await asked.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        SUCCESS + b"\x30",
        SUCCESS.replace(b"\x0a\x01\x00", b"\x0a\x01\x02"),
        SUCCESS.replace(b"\x02\x01\x01", b"\x02\x01\x02"),
        SUCCESS.replace(b"\x78", b"\x61"),
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x30\x84\xff\xff\xff\xff",
        b"\x30\x85\x01\x01\x01\x01\x01",
        b"\x30\x00",
        SUCCESS,
    ],
    ids=[
        *("nothing", "more than the answer", "protocolError", "another message", "another answer"),
        *("HTTP", "endless", "longer than endless", "empty", "no TLS after it"),
    ],
)
async def test_start_tls_that_does_not_go_well_is_an_absence(tmp_path: Path, answer: bytes) -> None:
    got = bytearray()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.extend(await reader.readexactly(31))
        writer.write(answer)
        await writer.drain()
        writer.write_eof()
        got.extend(await reader.read())

    async with directory_that(talk, tmp_path) as settings:
        asked = connections(settings | {"bind_dn": "cn=reader", "bind_password": "secret"})
        with pytest.raises(UsersUnavailable):
            await asked.search(ALICE)
        await asked.close()
    assert b"secret" not in got


async def test_directory_that_sends_without_end_is_not_listened_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST", 100_000)
    sent = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.read(1)
        writer.write(b"\x30\x84\x7f\xff\xff\xff")
        while True:
            writer.write(bytes(10_000))
            sent += 10_000
            await writer.drain()

    async with directory_that(talk, tmp_path) as settings:
        asked = connections(settings | {"starttls": False})
        with pytest.raises(UsersUnavailable):
            await asked.search(ALICE)
        await asked.close()
    assert sent < 50_000_000


async def test_closed_line_never_leads_libldap_elsewhere(
    tmp_path: Path,
) -> None:
    """It would connect again by itself, and without TLS."""
    lookups = 0

    async def talk(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        nonlocal lookups
        lookups += 1
        await reader.read(1)

    async with directory_that(talk, tmp_path) as settings:
        asked = connections(settings | {"starttls": False})
        with pytest.raises(UsersUnavailable, match="SERVER_DOWN"):
            await asked.search(ALICE)
        await asked.close()
    assert lookups == 1


def test_tls_is_verified() -> None:
    tls = connections({"urls": ["ldaps://ldap.example.com"], "base": PEOPLE})._tls  # noqa: SLF001
    assert tls.verify_mode is ssl.CERT_REQUIRED
    assert tls.check_hostname
    assert tls.minimum_version >= ssl.TLSVersion.TLSv1_2
