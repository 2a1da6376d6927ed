"""Credentials, databases and certificates count as the URL says; what is refused is said, and never the password."""

from __future__ import annotations

from collections.abc import Iterator
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


async def refusal(url: str) -> str:
    """Return why the log says that there is no connection; empty if there is one."""
    store = open_store(url, timeout=30)
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
    missing = await refusal(f"{certified.url}&ssl_certfile=/nowhere.pem")
    assert "/nowhere.pem of the ssl_ options" in missing
    assert "No such file" in missing


async def test_the_passphrase_of_an_encrypted_key_is_not_asked_for(certified: TcpRedis) -> None:
    file = certified.certificate
    assert file is not None
    locked = with_passphrase(file)
    refused = await refusal(f"{certified.url}&ssl_certfile={file}&ssl_keyfile={locked}")
    assert "the private key is encrypted" in refused


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
