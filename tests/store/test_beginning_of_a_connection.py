"""Credentials, databases and certificates count as the URL says; what is refused is said, and never the password."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from structlog.testing import capture_logs

from service.store.keyvalue import StoreUnavailable
from service.store.opening import open_store
from tests.driving.authority import root
from tests.driving.certificate import with_passphrase
from tests.driving.redis_servers import SENTINEL, TcpRedis, tls_redis

pytestmark = pytest.mark.needs("redis-server")

SECRET = "p%41ss wörd"
WRITTEN = "p%2541ss%20w%C3%B6rd"
"""The same in a URL."""


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[TcpRedis]:
    """With the user `asks`."""
    with TcpRedis(tmp_path / "plain", "--databases", "8") as started:
        started.tell("ACL", "SETUSER", "asks", "on", f">{SECRET}", "~*", "+@all")
        yield started


@pytest.fixture
def certified(tmp_path: Path) -> Iterator[TcpRedis]:
    """It has another address, too, than those of its certificate."""
    with tls_redis(tmp_path, "--bind", "127.0.0.1", "127.0.0.2") as started:
        yield started


@asynccontextmanager
async def answering(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncGenerator[str]:
    """The address of a server of the test's own, whose connections are all closed when it ends."""
    running = set[asyncio.Task[None]]()

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await handle(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running.add(asyncio.create_task(run(reader, writer)))

    async with await asyncio.start_server(accept, "127.0.0.1") as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    while running:
        await running.pop()


async def refusal(url: str, *, password: str | None = None) -> str:
    """Return why the log says that there is no connection; empty if there is one."""
    store = open_store(url, password=password, timeout=30)
    with capture_logs() as logged:
        try:
            await store.ping()
        except StoreUnavailable:
            (cause,) = [each["cause"] for each in logged]
            return str(cause)
        finally:
            await store.close()
    return ""


async def test_a_connection_is_that_of_the_user_in_the_database_and_names_the_service(
    plain: TcpRedis,
) -> None:
    store = open_store(f"redis://asks:{WRITTEN}@{plain.address}/7", timeout=30)
    await store.ping()
    clients = plain.tell("CLIENT", "LIST").decode().splitlines()
    (ours,) = [line for line in clients if " user=asks " in f"{line} "]
    await store.close()
    assert " db=7 " in ours
    if " lib-name=" in ours:  # Redis 7.2 and newer
        assert " lib-name=token-service " in ours


async def test_what_is_refused_is_named(plain: TcpRedis) -> None:
    wrong = await refusal(f"redis://asks:{WRITTEN}x@{plain.address}/0")
    assert f"{plain.address} refuses AUTH: WRONGPASS" in wrong
    assert SECRET not in wrong
    assert "refuses SELECT: ERR" in await refusal(f"redis://{plain.address}/8")
    plain.tell("ACL", "SETUSER", "default", "nocommands", "+ping")
    assert await refusal(f"redis://{plain.address}") == ""  # its name does not matter
    assert "refuses AUTH" in await refusal(f"redis://:{WRITTEN}@{plain.address}")


async def test_a_password_is_not_told_by_a_server_that_does_not_know_auth(tmp_path: Path) -> None:
    with TcpRedis(tmp_path, "--rename-command", "AUTH", "") as redis:
        said = await refusal(f"redis://asks:{WRITTEN}@{redis.address}")
    assert said == f"{redis.address} refuses AUTH: ERR unknown command"


async def test_certificates_are_verified_unless_the_url_says_otherwise(certified: TcpRedis) -> None:
    other = certified.url.replace("127.0.0.1", "127.0.0.2")
    assert await refusal(certified.url) == ""
    assert "CERTIFICATE_VERIFY_FAILED" in await refusal(certified.url.partition("?")[0])
    assert "CERTIFICATE_VERIFY_FAILED" in await refusal(other)
    assert await refusal(f"{other}&ssl_check_hostname=no") == ""
    assert await refusal(f"{other.partition('?')[0]}?ssl_cert_reqs=none") == ""


@pytest.mark.usefixtures("strict_python")
async def test_a_certificate_without_every_extension_is_trusted_if_its_authority_is(
    tmp_path: Path,
) -> None:
    authority, file = root(), tmp_path / "redis.pem"
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    authority.issue("CN=redis", extensions=[names], names_keys=False).write(file)
    with file.open("a") as certificates:
        certificates.write(authority.pem)
    with TcpRedis(tmp_path, certificate=file) as private:
        assert await refusal(f"rediss://{private.address}?ssl_ca_certs={file}") == ""
        assert "CERTIFICATE_VERIFY_FAILED" in await refusal(f"rediss://{private.address}")


async def test_a_client_shows_its_certificate(certified: TcpRedis) -> None:
    certified.tell("CONFIG", "SET", "tls-auth-clients", "yes")
    file = certified.certificate
    assert await refusal(certified.url) != ""
    assert await refusal(f"{certified.url}&ssl_certfile={file}&ssl_keyfile={file}") == ""


async def test_a_refusal_names_the_file_of_the_options_that_cannot_be_used(
    certified: TcpRedis, tmp_path: Path
) -> None:
    file, broken = certified.certificate, tmp_path / "broken.pem"
    broken.write_text("broken")
    address = f"rediss://{certified.address}"
    missing = await refusal(f"{certified.url}&ssl_certfile=/nowhere.pem")
    assert missing.startswith("/nowhere.pem of the ssl_ options cannot be used: ")
    assert "No such file" in missing
    authorities = f"{address}?ssl_ca_certs={broken}&ssl_certfile={file}&ssl_keyfile={file}"
    assert (await refusal(authorities)).startswith(f"{broken} of the ssl_ options")
    own = f"{certified.url}&ssl_certfile={file}&ssl_keyfile={broken}"
    assert (await refusal(own)).startswith(f"{file} with {broken} of the ssl_ options")


async def test_the_passphrase_of_an_encrypted_key_is_not_asked_for(certified: TcpRedis) -> None:
    file = certified.certificate
    assert file is not None
    locked = with_passphrase(file)
    refused = await refusal(f"{certified.url}&ssl_certfile={file}&ssl_keyfile={locked}")
    assert "the private key is encrypted" in refused


async def test_password_outside_the_url_is_taken_as_it_is(plain: TcpRedis) -> None:
    assert await refusal(f"redis://asks@{plain.address}", password=SECRET) == ""
    assert "WRONGPASS" in await refusal(f"redis://asks@{plain.address}", password=WRITTEN)


@pytest.mark.parametrize("waits", [False, True], ids=["speaks first", "answers"])
@pytest.mark.parametrize(
    "said",
    [
        "ERR max number of clients reached",
        "DENIED Redis is running in protected mode because protected mode is enabled and no password is set.",
    ],
    ids=["full", "protected"],
)
@pytest.mark.parametrize("password", [None, SECRET], ids=["nobody", "a user"])
async def test_message_of_a_server_that_refuses_connections_is_named(
    said: str, waits: bool, password: str | None
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if waits:
            await reader.read(1)
        writer.write(f"-{said}\r\n".encode())

    async with answering(refuse) as address:
        assert said in await refusal(f"redis://{address}", password=password)


async def test_why_no_server_of_a_cluster_tells_the_slots_is_said(
    plain: TcpRedis, tmp_path: Path
) -> None:
    lone = await refusal(f"redis+cluster://{plain.address}")
    assert (
        f"{plain.address} refuses CLUSTER: ERR This instance has cluster support disabled" in lone
    )
    assert "cannot be connected to" in await refusal("redis+cluster://127.0.0.1:1")
    with TcpRedis(tmp_path / "member", "--cluster-enabled", "yes") as member:
        empty = await refusal(f"redis+cluster://{member.address}")
        assert "knows no server that has slots" in empty


async def test_a_url_that_names_one_server_of_a_cluster_is_told_what_to_change() -> None:
    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in (b"+OK", b"-MOVED 3999 127.0.0.1:6381"):  # to the name, and to the key
            await reader.read(1000)
            writer.write(answer + b"\r\n")
        await reader.read()

    async with answering(redirect) as address:
        store = open_store(f"redis://{address}", timeout=30)
        with capture_logs() as logged, pytest.raises(StoreUnavailable):
            await store.get("ts:keys")
        await store.close()
    assert "has to begin with redis+cluster://" in logged[0]["cause"]


async def test_sentinels_have_credentials_of_their_own(plain: TcpRedis, tmp_path: Path) -> None:
    watching = SENTINEL.format(port=plain.port, patience=60_000)
    with TcpRedis(tmp_path, sentinel=watching) as sentinel:
        sentinel.tell("ACL", "SETUSER", "asks", "on", f">{SECRET}", "-@all", "+sentinel|master")
        sentinel.tell("ACL", "SETUSER", "default", "off")
        url = f"redis+sentinel://{sentinel.address}/mymaster"
        credentials = f"?sentinel_username=asks&sentinel_password={WRITTEN}"
        assert await refusal(url + credentials) == ""
        assert "NOAUTH" in await refusal(url)
        unknown = await refusal(url.replace("mymaster", "other") + credentials)
        assert "No such master" in unknown
